import { describe, expect, it } from 'vitest';
import { KubeError } from '../../kube/errors.ts';
import type { PodExec } from '../../kube/exec/types.ts';
import { measure, readMtu } from './measure.ts';
import type { Probe } from './probes.ts';

const probe = (expected: Probe['expected']): Probe => ({
  ...{ test: 'pods', to: 'pod a2', target: '10.0.0.1:80', family: 4, expected },
  from: { name: 'a1', tenant: 'a', node: { name: 'n1', hostname: 'n1' }, addresses: [], mtu: undefined },
});

/** @param answers of the attempts, one after the other; the last one for all that come later */
const podsThatAnswer = (...answers: readonly (string | KubeError)[]) => {
  const asked: string[] = [];
  let pauses = 0;
  const run: PodExec['run'] = async ({ namespace, pod, command }, output) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? '';
    asked.push([`${namespace}/${pod}`, ...command].join(' '));
    if (answer instanceof KubeError) throw answer;
    output.stderr(Buffer.from(answer));
    return answer === '' ? 0 : 1;
  };
  const prober = {
    ...{ exec: { run }, run: { id: 'x', program: '/agnhost' }, timeoutSeconds: 3 },
    pause: async () => void pauses++,
  };
  return { asked, prober, pauses: () => pauses };
};

const stop = new AbortController().signal;

describe('the MTU of a pod', () => {
  const pod = { name: 'a1', tenant: 'a', node: { name: 'n1', hostname: 'n1' } } as const;
  const read = (run: PodExec['run'], signal = stop) =>
    readMtu({ exec: { run }, run: { id: 'x', program: '/agnhost' } }, pod, 'ovn-udn1', signal);
  const prints =
    (status: number, { stdout = '', stderr = '' }): PodExec['run'] =>
    async (_, output) => {
      output.stdout(Buffer.from(stdout));
      output.stderr(Buffer.from(stderr));
      return status;
    };
  const fails: PodExec['run'] = async () => {
    throw new KubeError('ERR_KUBE_STATUS', 'error dialing backend: connection refused', { status: 500 });
  };

  it('is what its interface has', async () => {
    expect(await read(prints(0, { stdout: '1400\n' }))).toEqual({ mtu: 1400 });
  });

  it.each([
    ['a kubelet that cannot be reached', fails, 'error dialing backend: connection refused'],
    ['an image without cat', prints(126, { stderr: 'cat: not found\n' }), 'cat: not found'],
    ['a silent failure', prints(1, {}), 'cat exited with status 1'],
    ['no number', prints(0, { stdout: 'no\n' }), 'the file contains "no"'],
    ['nothing', prints(0, {}), 'the file contains ""'],
  ])('is not known after %s', async (_, run, cause) => {
    expect(await read(run)).toEqual({ cause });
  });

  it('is not waited for by an interrupted run', async () => {
    await expect(read(fails, AbortSignal.abort(new Error('interrupted')))).rejects.toThrow('interrupted');
  });
});

describe('a probe', () => {
  it('runs in its pod', async () => {
    const { prober, asked } = podsThatAnswer('');
    expect(await measure(prober, [probe('reached')], stop)).toMatchObject([{ observed: 'reached' }]);
    expect(asked).toEqual(['connectivity-x-a/a1 /agnhost connect --timeout=3s 10.0.0.1:80']);
  });

  it('that should succeed has more than one attempt', async () => {
    const late = podsThatAnswer('REFUSED\n', 'TIMEOUT\n', '');
    expect(await measure(late.prober, [probe('reached')], stop)).toMatchObject([{ observed: 'reached' }]);
    expect([late.asked.length, late.pauses()]).toEqual([3, 2]);
    const never = podsThatAnswer('TIMEOUT\n');
    expect(await measure(never.prober, [probe('reached')], stop)).toMatchObject([{ observed: 'not reached' }]);
    expect([never.asked.length, never.pauses()]).toEqual([3, 2]);
  });

  it('that should fail has one', async () => {
    const apart = podsThatAnswer('TIMEOUT\n', '');
    expect(await measure(apart.prober, [probe('not reached')], stop)).toMatchObject([{ observed: 'not reached' }]);
    expect(apart.asked).toHaveLength(1);
  });

  it('that cannot be run is unknown, with the cause', async () => {
    const { prober } = podsThatAnswer(new KubeError('ERR_KUBE_NETWORK', 'the connection was closed'));
    expect(await measure(prober, [probe('reached')], stop)).toMatchObject([
      { observed: 'unknown', detail: expect.stringContaining('the connection was closed') },
    ]);
  });

  it('ends with the signal', async () => {
    const { prober } = podsThatAnswer(new KubeError('ERR_KUBE_NETWORK', 'closed'));
    await expect(measure(prober, [probe('reached')], AbortSignal.abort(new Error('interrupted')))).rejects.toThrow(
      'interrupted',
    );
  });
});

it('results are in the order of the probes, however many there are', async () => {
  const { prober } = podsThatAnswer('');
  const probes = Array.from(
    { length: 50 },
    (_, index): Probe => ({ ...probe('reached'), target: `10.0.0.${index}:80` }),
  );
  expect((await measure(prober, probes, stop)).map(({ target }) => target)).toEqual(probes.map(({ target }) => target));
});
