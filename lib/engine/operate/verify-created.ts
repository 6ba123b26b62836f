import type { RelayConfig } from '../../config/schema.ts';
import type { PartnerClient } from '../../service/partner/client.ts';
import { PartnerError } from '../../service/partner/errors.ts';
import { type Operation, openRecord, withAnyFields, withOverride } from '../../service/partner/operation.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import { pages, rowsOf } from '../../service/partner/pages.ts';
import { markerIn } from '../record/markers.ts';

/** An object that, according to a person, a creating operation has created. */
export interface Claimed {
  connection: string;
  /** The creating operation, such as `defects/create`. */
  operation: string;
  /** The fields that narrow the list of such objects, such as the project of a defect. */
  scope: Readonly<Record<string, unknown>>;
  id: string | number;
  /** The marker in the relay's request, if any. An object without it was created by another request. */
  marker?: string | undefined;
  /** Replaces `marker`: the markers that the object may have. An object with another marker belongs to another job. */
  mayHave?: readonly string[] | undefined;
}

/**
 * Checks with the service that an object exists and that the operation creates this kind of object.
 * @returns its id as the service writes it
 * @throws {Error} if the object does not exist, or if the service did not answer; the message says which
 */
export type VerifyCreated = (claimed: Claimed) => Promise<string | number>;

/** Each page costs one call of the budget. */
const PAGES = 50;

/** @param open opens the calls of a connection */
export function createVerifyCreated(
  { connections }: Pick<RelayConfig, 'connections'>,
  open: (connection: string) => Promise<PartnerClient['call']>,
): VerifyCreated {
  return async ({ connection, operation: name, scope, id, marker, mayHave }) => {
    const { found, detail, createdId = '' } = operations.get(name) ?? {};
    const thing = createdId.replace(/_id$/, '');
    const declared = operations.get(found?.list ?? detail ?? '');
    // The service shows nothing to compare with, so the person's word decides.
    if (!declared) return id;
    const shows = withOverride(declared, connections[connection]?.operations[declared.name]);
    const { rows, isWhole } = await asked(found ? () => readList(shows) : () => readOne(shows));
    const row = rows.find((one) => String(one[createdId]) === String(id));
    const known = row?.[createdId];
    if (found && marker !== undefined) verifyMarker(row?.[found.field], marker);
    if (found && mayHave !== undefined) verifyIsFree(markerIn(row?.[found.field]), mayHave);
    if (typeof known === 'string' || typeof known === 'number') return known;
    const [where = 'service'] = Object.keys(scope).map((field) => field.replace(/_id$/, ''));
    const most = isWhole ? '' : ` among the ${rows.length} that the relay can read`;
    throw new Error(`the ${where} has no ${thing} with the id '${id}'${most}. Nothing was changed`);

    /** Checks who created the object. If the list does not show the text, it cannot tell. */
    function verifyMarker(text: unknown, marker: string): void {
      const theirs = markerIn(text);
      if (typeof text !== 'string' || theirs === marker) return;
      const isOfRelay = theirs !== undefined;
      const wrong = isOfRelay
        ? `${thing} ${id} belongs to another job, as its ${found?.field} says`
        : `the ${found?.field} of ${thing} ${id} does not contain ${marker}`;
      const todo = isOfRelay
        ? 'Copy the id of what this job created'
        : `If this job did create it, add ${marker} to its ${found?.field} in the service, and decide again`;
      throw new Error(`${wrong}. Nothing was changed. ${todo}`);
    }

    function verifyIsFree(theirs: string | undefined, mayHave: readonly string[]): void {
      if (theirs === undefined || mayHave.includes(theirs)) return;
      throw new Error(
        `the relay created ${id} for something else, as its ${found?.field} says. Nothing was changed. Copy the id of the right one, or use it anyway (--steal on the command line)`,
      );
    }

    async function readList(list: Operation) {
      return rowsOf(pages(await open(connection), withAnyFields(list), scope, PAGES));
    }

    /**
     * Tries an id of digits as a number and as a text: the interface does not show which one it is, and the service may
     * refuse the other.
     */
    async function readOne(detail: Operation) {
      const call = await open(connection);
      const given = /^\d{1,15}$/.test(String(id)) ? [Number(id), String(id)] : [id];
      for (const one of given) {
        const result = await call({ ...detail, data: openRecord }, { [createdId]: one }).catch(unlessUnknown);
        if (result) return { rows: [result.data], isWhole: true };
      }
      return { rows: [], isWhole: true };
    }

    async function asked<T>(read: () => Promise<T>): Promise<T> {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof PartnerError)) throw error;
        throw new Error(`the service did not say whether ${id} exists, so nothing was changed: ${error.message}`, {
          cause: error,
        });
      }
    }
  };
}

/** The statuses for an unknown id (docs/partner-api.md#statuses). */
const UNKNOWN: readonly unknown[] = [400, 404, 422];

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof PartnerError) || !UNKNOWN.includes(error.status)) throw error;
}
