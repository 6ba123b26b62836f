/** The possible units of a duration. The relay's own fields are in hours. */
export const durationUnits = ['hours', 'minutes', 'seconds'] as const;
export type DurationUnit = (typeof durationUnits)[number];

/** The relay's fields that hold a duration in hours. Only these can have another unit. */
export const durationFields: readonly string[] = ['hours', 'estimated_hours'];

/** The instance's name for one of the relay's fields, and its unit there. */
export interface TheirField {
  name: string;
  /** The unit of a duration. Default: `hours`. */
  unit?: DurationUnit | undefined;
}

/** Maps the relay's field names to the instance's. */
export type FieldNames = Readonly<Record<string, string | TheirField>>;

const PER_HOUR: Readonly<Record<DurationUnit, number>> = { hours: 1, minutes: 60, seconds: 3_600 };

/** Returns a payload with the instance's field names and units. */
export function theirFields(payload: Record<string, unknown>, fields: FieldNames): Record<string, unknown> {
  const theirs = new Map(Object.entries(fields));
  if (theirs.size === 0) return payload;
  return Object.fromEntries(
    Object.entries(payload).map(([name, value]) => {
      const { name: their, unit } = field(theirs.get(name) ?? name);
      return [their, fromHours(value, unit)];
    }),
  );
}

/** Returns a record, or each record of a list, with the relay's field names and units. */
export function ourFields(data: unknown, fields: FieldNames): unknown {
  const theirs = Object.entries(fields).map(([our, their]) => ({ our, ...field(their) }));
  if (theirs.length === 0) return data;
  const byTheirName = new Map(theirs.map((their) => [their.name, their]));
  const byOurName = new Map(theirs.map((their) => [their.our, their]));
  const rename = (row: unknown) => {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return row;
    return Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) => {
        const known = byTheirName.get(name);
        if (known) return [[known.our, toHours(value, known.unit)]];
        // The override uses another field for our name, so the instance's field with our name means something else.
        const covered = byOurName.get(name);
        return covered && Object.hasOwn(row, covered.name) ? [] : [[name, value]];
      }),
    );
  };
  return Array.isArray(data) ? data.map(rename) : rename(data);
}

function field(theirs: string | TheirField): TheirField {
  return typeof theirs === 'string' ? { name: theirs } : theirs;
}

/** Rounds to whole minutes or seconds, because hours such as 1.3 have no exact binary form. */
function fromHours(value: unknown, unit: DurationUnit = 'hours'): unknown {
  const number = unit === 'hours' ? undefined : decimal(value);
  return number === undefined ? value : Math.round(number * PER_HOUR[unit]);
}

/** Leaves a value that is not a number, such as `1:30`, as it is. The code that reads it parses or refuses it. */
function toHours(value: unknown, unit: DurationUnit = 'hours'): unknown {
  const number = unit === 'hours' ? undefined : decimal(value);
  return number === undefined ? value : number / PER_HOUR[unit];
}

/** Reads a number, or a decimal string with a point or a comma. */
function decimal(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^\d+([.,]\d+)?$/.test(value.trim())) return undefined;
  return Number(value.trim().replace(',', '.'));
}
