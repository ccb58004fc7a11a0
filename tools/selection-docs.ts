/** The table of docs/attachments.md: what is wrong with a selection, and the message; the parser's tests have the same list. */
import { readFileSync } from 'node:fs';
import { SELECTION_FAULTS } from '../api/annotations/selection-faults.ts';
import { code, markdownTable } from './markdown.ts';

const PATH = 'docs/attachments.md';
const START = '<!-- Made by `make gen` from api/annotations/selection-faults.ts: -->';
const END = '<!-- End of what is made. -->';

/** Path from the repository's root → content. @throws Error when the marks are missing */
export const selectionDocs = (): Record<string, string> => {
  const text = readFileSync(PATH, 'utf8');
  const [start, end] = [text.indexOf(START), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${PATH} has no place for the table`);
  return { [PATH]: `${text.slice(0, start + START.length)}\n\n${table()}\n\n${text.slice(end)}` };
};

const table = (): string =>
  markdownTable(
    ['key', 'annotation', 'message'],
    SELECTION_FAULTS.map(({ key, annotation, message }) => [
      key === '' ? 'the annotation' : code(key),
      code(shortened(annotation)),
      code(message),
    ]),
  );

/** Those that are wrong for their length say nothing more by all of it. */
const shortened = (text: string): string => (text.length > 120 ? `${text.slice(0, 60)}…` : text);
