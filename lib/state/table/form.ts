/**
 * The form of the items that this version writes. Raise it with every change that the version before cannot read: another
 * shape of an item, another input of a job. While both versions run, in a deployment or after a rollback, the older one then
 * leaves those items to the newer. Items of form 1 do not say it.
 */
export const FORM: number = 1;

/** What says it in an item. */
export const ofThisForm = FORM > 1 ? { form: FORM } : {};

/** How long what a newer version wrote waits for it. After that, it needs a person. */
export const WAITS_FOR_NEWER_MS = 24 * 3_600_000;

export const isNewer = (item: unknown): boolean => Number(Object(item).form) > FORM;
