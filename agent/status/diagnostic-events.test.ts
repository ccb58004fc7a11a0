import { expect, it } from 'vitest';
import type { Diagnostic } from '../model/fragment.ts';
import { DiagnosticEvents } from './diagnostic-events.ts';

const bad = (message: string, event?: string): Diagnostic => ({
  object: 'Pod/red/a',
  severity: 'warning',
  message,
  ...(event !== undefined && { event }),
});

it('emits each diagnostic once, and again when it was away', () => {
  const reported: string[] = [];
  const events = new DiagnosticEvents((object, reason, message) => reported.push(`${object} ${reason} ${message}`));
  const update = (...diagnostics: readonly Diagnostic[]): void =>
    events.update(['isolation:red/a'], new Map([['isolation:red/a', diagnostics]]));
  update(bad('port 99999', 'ErrorUpdatingResource'), bad('no event'));
  update(bad('port 99999', 'ErrorUpdatingResource'));
  expect(reported).toEqual(['Pod/red/a ErrorUpdatingResource port 99999']);
  update(bad('port 0', 'ErrorUpdatingResource'));
  update();
  update(bad('port 0', 'ErrorUpdatingResource'));
  expect(reported.slice(1)).toEqual(Array(2).fill('Pod/red/a ErrorUpdatingResource port 0'));
});
