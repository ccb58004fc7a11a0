import { expect, it } from 'vitest';
import { exitStatusOf, readMessage } from './channels.ts';

const status = (value: object): string => JSON.stringify({ kind: 'Status', apiVersion: 'v1', ...value });
const exit = (message: string) =>
  status({
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: ${message}`,
    details: { causes: [{ reason: 'ExitCode', message }] },
  });

it.each([
  [[1, 65], { channel: 'stdout', content: Uint8Array.of(65) }],
  [[2, 65, 66], { channel: 'stderr', content: Uint8Array.of(65, 66) }],
  [[3, 123], { channel: 'error', content: Uint8Array.of(123) }],
  // As servers open channels.
  [[1], undefined],
  [[], undefined],
  [[4, 1], undefined],
  [[255, 1], undefined],
])('a message %j', (bytes, expected) => {
  expect(readMessage(Uint8Array.from(bytes))).toEqual(expected);
});

it('the exit status is that of the command', () => {
  expect(exitStatusOf(status({ status: 'Success' }), 'exec')).toBe(0);
  expect(exitStatusOf(exit('2'), 'exec')).toBe(2);
  expect(exitStatusOf(exit('137'), 'exec')).toBe(137);
});

it.each([
  [
    'a command that could not be started',
    status({ status: 'Failure', reason: 'InternalError', message: 'no such file', code: 500 }),
    /exec: no such file \(500\)/,
  ],
  ['an exit code that is none', exit('many'), /NonZeroExitCode|exec: command terminated/],
  ['what is no Status', 'oops', /exec: the end of it is no Status: oops/],
])('%s is an error', (_, text, message) => {
  expect(() => exitStatusOf(text, 'exec')).toThrow(message);
});
