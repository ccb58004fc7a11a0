import { expect, it } from 'vitest';
import { createFakeClock } from '../base/testing/fake-clock.ts';
import type { LogLevel } from './flags.ts';
import { createLog } from './log.ts';
import { type Announce, LogLevelControl } from './log-level.ts';

const setUp = (configured: LogLevel) => {
  const clock = createFakeClock();
  const control = new LogLevelControl(configured, clock);
  const written: string[] = [];
  const log = createLog('test', control, { write: (line: string) => void written.push(JSON.parse(line).msg) });
  const child = log.child({ module: 'a' }).child({ backend: 'b' });
  /** What of one line of each level is written, by a child that was made before. */
  const heard = (): string[] => {
    written.length = 0;
    for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) child[level]({}, level);
    return [...written];
  };
  const changes: string[] = [];
  const announce: Announce = ({ from, to, isReverted }) => {
    changes.push(`${from} to ${to}${isReverted ? ' again' : ''}`);
    child.info('changed');
  };
  return { clock, control, written, heard, changes, announce };
};

it.each([
  ['trace', ['trace', 'debug', 'info', 'warn', 'error', 'fatal']],
  ['info', ['info', 'warn', 'error', 'fatal']],
  ['error', ['error', 'fatal']],
  ['silent', []],
] as const)('level %s', (level, expected) => {
  expect(setUp(level).heard()).toEqual(expected);
});

it('a change reaches children that exist', () => {
  const { control, heard, announce } = setUp('info');
  control.set({ level: 'debug' }, announce);
  expect(heard()).toContain('debug');
  control.set({ level: 'warn' }, announce);
  expect(heard()).toEqual(['warn', 'error', 'fatal']);
});

it('a change is logged once, whatever is enabled before and after, and no change is not', () => {
  const { control, written, changes, announce } = setUp('warn');
  control.set({ level: 'error' }, announce);
  expect(written).toEqual(['changed']);
  control.set({ level: 'error' }, announce);
  expect(changes).toEqual(['warn to error']);
});

it('the configured level comes back after the duration', async () => {
  const { clock, control, heard, changes, announce } = setUp('info');
  control.set({ level: 'debug', forMs: 60_000 }, announce);
  expect(control.state()).toEqual({ level: 'debug', configured: 'info', revertsAt: clock.wall() + 60_000 });
  await clock.advance(59_999);
  expect(heard()).toContain('debug');
  await clock.advance(1);
  expect(control.state()).toEqual({ level: 'info', configured: 'info' });
  expect(heard()).not.toContain('debug');
  expect(changes).toEqual(['info to debug', 'debug to info again']);
});

it('a second change replaces the duration of the first', async () => {
  const { clock, control, announce } = setUp('info');
  control.set({ level: 'debug', forMs: 60_000 }, announce);
  control.set({ level: 'trace' }, announce);
  expect(clock.pending).toBe(0);
  await clock.advance(60_000);
  expect(control.state()).toEqual({ level: 'trace', configured: 'info' });
  control.set({ level: 'debug', forMs: 60_000 }, announce);
  control.stop();
  expect(clock.pending).toBe(0);
});
