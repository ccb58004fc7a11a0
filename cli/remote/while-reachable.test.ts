import { expect, it } from 'vitest';
import { abortable } from '../../base/abort.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { KubeError } from '../../kube/errors.ts';
import type { ExecOutput } from '../../kube/exec/types.ts';
import { isUnreachable, whileReachable } from './while-reachable.ts';

const never = (signal?: AbortSignal): Promise<never> => abortable(signal, () => () => undefined);
const refused = new KubeError('ERR_KUBE_STATUS', 'Get "https://10.0.0.1:10250/": dial tcp: no route to host', {
  status: 500,
});

/** A command that writes only when the test says so. @param probe what the kubelet answers */
const started = (probe: (signal: AbortSignal) => Promise<unknown>) => {
  const clock = createFakeClock();
  const probes: AbortSignal[] = [];
  const command = Promise.withResolvers<number>();
  let write: ExecOutput['stdout'] = () => undefined;
  const stop = new AbortController();
  const written: string[] = [];
  const take = (chunk: Uint8Array): void => void written.push(Buffer.from(chunk).toString());
  const ended = whileReachable(
    {
      output: { stdout: take, stderr: take },
      probe: (signal) => {
        probes.push(signal);
        return probe(signal);
      },
      ...{ clock, signal: stop.signal },
    },
    (output, signal) => {
      write = output.stdout;
      return Promise.race([command.promise, never(signal)]);
    },
  ).catch((error: unknown) => error);
  return { clock, probes, command, ended, stop, written, write: (text: string) => write(Buffer.from(text)) };
};

it('a command that writes at once is not disturbed by a probe', async () => {
  const { clock, probes, command, ended, written, write } = started(never);
  write('a line');
  await clock.advance(60_000);
  command.resolve(3);
  expect([await ended, probes, written, clock.pending]).toEqual([3, [], ['a line'], 0]);
});

it('a silent command on a node whose kubelet answers may take its time', async () => {
  const { clock, probes, command, ended } = started(() => Promise.resolve('a log'));
  await clock.advance(120_000);
  command.resolve(0);
  expect([await ended, probes.length, clock.pending]).toEqual([0, 1, 0]);
});

it('a silent command whose kubelet does not answer ends within ten seconds', async () => {
  const { clock, ended } = started(never);
  await clock.advance(8_000);
  const error = await ended;
  expect(error).toMatchObject({ message: 'its kubelet does not answer within 5 s' });
  expect([isUnreachable(error), clock.pending]).toEqual([true, 0]);
});

it('a silent command ends at once where the API server finds no route to the kubelet', async () => {
  const { clock, ended } = started(() => Promise.reject(refused));
  await clock.advance(3_000);
  expect(await ended).toBe(refused);
});

it('a probe that is forbidden, or refused by the kubelet, decides nothing', async () => {
  const { clock, command, ended } = started(() =>
    Promise.reject(new KubeError('ERR_KUBE_STATUS', 'pods/log is forbidden', { status: 403 })),
  );
  await clock.advance(60_000);
  command.resolve(0);
  expect(await ended).toBe(0);
});

it('what is written while the kubelet is asked counts as its answer', async () => {
  const { clock, probes, command, ended, write } = started(never);
  await clock.advance(4_000);
  write('late');
  expect(probes.map(({ aborted }) => aborted)).toEqual([true]);
  await clock.advance(60_000);
  command.resolve(0);
  expect(await ended).toBe(0);
});

it('ends by the signal of its caller, too', async () => {
  const { stop, ended, clock } = started(never);
  stop.abort(new Error('interrupted'));
  expect(await ended).toMatchObject({ message: 'interrupted' });
  expect(clock.pending).toBe(0);
});
