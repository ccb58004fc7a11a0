/** Records what operators see, or compares it with what was recorded. */
import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { INCIDENTS, type IncidentId } from './pages.ts';
import { comparable, normalized, RECORDED_PATH, readRecorded, type Shown } from './recorded.ts';

export interface Recorder {
  /** @param command as it is typed @throws when the page has another first line for it */
  shows(incident: IncidentId, command: string, output: string): void;
  /** Writes what was recorded; incidents that did not happen in this run keep what they have. */
  save(): void;
}

export const createRecorder = (): Recorder => (process.env['UDN_RECORD'] === 'incidents' ? recording() : comparing());

const comparing = (): Recorder => {
  const recorded = readRecorded();
  return {
    shows: (incident, command, output) => {
      const first = comparable(normalized(incident, output)[0]);
      const shown = (recorded[incident] ?? []).filter((one) => comparable(one.command) === comparable(command));
      expect(
        shown.map(({ output: [line] }) => comparable(line)),
        `docs/operations.md shows something else of ${command}: npm run record:incidents`,
      ).toContain(first);
    },
    save: () => undefined,
  };
};

const recording = (): Recorder => {
  const found = new Map<IncidentId, Shown[]>();
  return {
    shows: (incident, command, output) => {
      const shown = { command, output: normalized(incident, output) };
      const isAgain = (one: Shown): boolean =>
        comparable(one.command) === comparable(command) && comparable(one.output[0]) === comparable(shown.output[0]);
      // A test that was tried twice shows it twice.
      found.set(incident, [...(found.get(incident) ?? []).filter((one) => !isAgain(one)), shown]);
    },
    save: () => {
      const before = readRecorded();
      const all = INCIDENTS.flatMap(({ id }) => {
        const shown = found.get(id) ?? before[id];
        return shown === undefined ? [] : [[id, shown] as const];
      });
      writeFileSync(RECORDED_PATH, `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`);
    },
  };
};
