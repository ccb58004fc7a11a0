import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { stopOnSignals } from './stop-on-signals.ts';

const start = () => {
  const source = new EventEmitter();
  const calls: string[] = [];
  const signal = stopOnSignals(source, () => void calls.push('second'));
  return { send: (name: string) => source.emit(name, name), calls, signal };
};

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('%s stops the run, which then deletes its namespaces', (name) => {
  const { send, signal } = start();
  expect(signal.aborted).toBe(false);
  send(name);
  expect(signal.reason).toMatchObject({ message: `interrupted by ${name}`, exitStatus: 2 });
});

it('a second signal does not wait for the deletion', () => {
  const { send, calls } = start();
  send('SIGHUP');
  send('SIGINT');
  expect(calls).toEqual(['second']);
});

it('a closed terminal, which sends more than one, does not end the deletion', () => {
  const { send, calls } = start();
  send('SIGINT');
  send('SIGHUP');
  send('SIGHUP');
  expect(calls).toEqual([]);
});
