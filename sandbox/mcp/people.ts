import { mira, tomasz } from '../seed.ts';

/** A user of the records who can sign in, with email and password. */
export interface Person {
  user_id: string;
  email: string;
  password: string;
}

/** Mira sees every project, Tomasz only the Web Shop (`members` of the workspaces in seed.ts). */
export const defaultPeople: readonly Person[] = [
  { user_id: mira, email: 'mira.novak@example.com', password: 'mira-in-the-sandbox' },
  { user_id: tomasz, email: 'tomasz.zielinski@example.com', password: 'tomasz-in-the-sandbox' },
];
