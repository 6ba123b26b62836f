/**
 * The form of the items that this version writes. Raise it with every change that the previous version cannot read:
 * another shape of an item, another input of a job. During a deployment or after a rollback, both versions run, and the
 * older one leaves these items to the newer. Items of form 1 do not contain the form.
 */
export const FORM: number = 1;

/** The attribute for the form in an item. */
export const ofThisForm = FORM > 1 ? { form: FORM } : {};

/** How long an item of a newer version waits for that version. After that, its job is parked. */
export const WAITS_FOR_NEWER_MS = 24 * 3_600_000;

export const isNewer = (item: unknown): boolean => Number(Object(item).form) > FORM;
