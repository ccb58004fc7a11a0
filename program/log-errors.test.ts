import { expect, it } from 'vitest';
import { createFakeClock } from '../base/testing/fake-clock.ts';
import { createLog } from './log.ts';
import { LogLevelControl } from './log-level.ts';

const lineOf = (error: Error): Record<string, unknown> => {
  const lines: string[] = [];
  const control = new LogLevelControl('info', createFakeClock());
  createLog('test', control, { write: (line: string) => void lines.push(line) }).warn({ err: error }, 'failed');
  return (JSON.parse(lines.join('')) as { err: Record<string, unknown> }).err;
};

it('has no stack of a server that does not answer, and says why', () => {
  const cause = new Error('read ECONNRESET');
  const error = Object.assign(new Error('watch of pods failed', { cause }), { code: 'ERR_KUBE_NETWORK' });
  expect(lineOf(error)).toMatchObject({ message: 'watch of pods failed: read ECONNRESET', code: 'ERR_KUBE_NETWORK' });
  expect(lineOf(error)).not.toHaveProperty('stack');
});

it('has the stack of any other error', () => {
  const error = Object.assign(new Error('no line of JSON'), { code: 'ERR_KUBE_PROTOCOL' });
  expect(lineOf(error)['stack']).toContain('log-errors.test.ts');
});
