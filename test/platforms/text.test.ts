import { expect, it } from 'vitest';
import { cutToBytes, cutToLength } from '../../lib/text.ts';

it.each([
  ['café', 5, 'café'],
  ['cafés', 5, 'ca…'],
  ['🇩🇪🇫🇷', 16, '🇩🇪🇫🇷'],
  ['🇩🇪🇫🇷', 15, '🇩🇪…'],
  ['long', 2, '…'],
])('%s in %i bytes is %s', (text, most, cut) => {
  expect(cutToBytes(text, most, '…')).toBe(cut);
});

it.each([
  ['café', 4, 'café'],
  ['cafés', 4, 'caf…'],
  ['🇩🇪🇫🇷', 8, '🇩🇪🇫🇷'],
  ['🇩🇪🇫🇷', 7, '🇩🇪…'],
])('%s in a length of %i is %s', (text, most, cut) => {
  expect(cutToLength(text, most, '…')).toBe(cut);
});
