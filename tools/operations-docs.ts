/** The incidents of `docs/operations.md`: what was written about each, and the output that the e2e suite recorded. */
import { readFileSync } from 'node:fs';
import { INCIDENTS, type IncidentPage } from '../test/e2e/incidents/pages.ts';
import { type Recorded, readRecorded, type Shown } from '../test/e2e/incidents/recorded.ts';

const PATH = 'docs/operations.md';
const START = '<!-- Made by `make gen` from test/e2e/incidents/pages.ts and recorded.json: -->';
const END = '<!-- End of what is made. -->';

/** Path from the repository's root → content. */
export const operationsDocs = (): Record<string, string> => ({
  [PATH]: between(readFileSync(PATH, 'utf8'), `\n\n${incidentSections(INCIDENTS, readRecorded())}\n\n`),
});

/** @throws Error when the marks are missing */
const between = (text: string, made: string): string => {
  const [start, end] = [text.indexOf(START), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${PATH} has no place for the incidents`);
  return `${text.slice(0, start + START.length)}${made}${text.slice(end)}`;
};

/** @throws Error for an incident without output: a page without it would show what nobody saw */
export const incidentSections = (pages: readonly IncidentPage[], recorded: Recorded): string =>
  pages
    .map(({ id, title, symptom, cause, remedy }) => {
      const shown = recorded[id] ?? [];
      if (shown.length === 0) throw new Error(`nothing is recorded of ${id}: npm run record:incidents`);
      const output = shown.map(sample).join('\n');
      return [
        `## ${title}`,
        `Symptom: ${symptom}`,
        `\`\`\`\n${output}\n\`\`\``,
        `Cause: ${cause}`,
        `To do: ${remedy}`,
      ].join('\n\n');
    })
    .join('\n\n');

const sample = ({ command, output }: Shown): string => {
  const shown = output.slice(0, MAX_LINES);
  return [`$ ${command}`, ...shown, ...(output.length > shown.length ? ['…'] : [])].join('\n');
};

/** The first has the root cause; of a table, a row for each node. */
const MAX_LINES = 8;
