/** People and channels of the stand-in's workspace. */
export const MIRA = 'U0MIRA001';
export const TOMASZ = 'U0TOMASZ1';
export const NOBODY = 'U0NOBODY1';
/** A channel without settings, and one whose defects have a project. */
export const GENERAL = 'C0GENERAL';
export const PLATFORM = 'C0PLATFORM';
