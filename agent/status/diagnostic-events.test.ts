import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
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
  const emit = (object: string, reason: string, message: string) => reported.push(`${object} ${reason} ${message}`);
  const events = new DiagnosticEvents(emit, createFakeClock());
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

it('emits what is usual for a while once it lasts, and has no timer for anything else', async () => {
  const reported: string[] = [];
  const clock = createFakeClock();
  const events = new DiagnosticEvents((_, reason) => reported.push(reason), clock);
  const update = (...diagnostics: readonly Diagnostic[]): void => events.update(['a'], new Map([['a', diagnostics]]));
  const late: Diagnostic = { ...bad('closed', 'MachineElsewhere'), eventAfterMs: 1_000 };
  update(late);
  await clock.advance(999);
  update(late, bad('no event'));
  expect(reported).toEqual([]);
  await clock.advance(1);
  update(late);
  expect([reported, clock.pending]).toEqual([['MachineElsewhere'], 0]);
  update();
  update(late);
  expect(clock.pending).toBe(1);
  update();
  expect(clock.pending).toBe(0);
  update(late);
  events.stop();
  expect(clock.pending).toBe(0);
});
