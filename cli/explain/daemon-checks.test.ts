import { expect, it } from 'vitest';
import { explainOutput, ok } from './check.ts';
import { daemonChecks, failedDaemons, withoutStopped } from './daemon-checks.ts';
import type { ExplainSources } from './sources.ts';

const sourcesWith = (health: ExplainSources['agent']['health']) =>
  ({
    agent: { health },
    runner: { run: () => Promise.resolve({ stdout: 'asked', stderr: '' }) },
  }) as unknown as ExplainSources;
const failing = (...components: string[]) =>
  sourcesWith(() =>
    Promise.resolve(
      components.map((component) => ({ component, state: 'failed' as const, since: '', message: 'it hangs' })),
    ),
  );

it('what is found may not be in effect while a daemon fails that has to follow', async () => {
  const checks = daemonChecks(await failedDaemons(failing('api-server', 'ovn-northd', 'uplink')));
  const { lines, exitStatus } = explainOutput({ subject: 'pod red/a', checks: [ok('agent', 'knows it'), ...checks] });
  expect(exitStatus).toBe(0);
  expect(lines).toEqual([
    'pod red/a: nothing is missing, but the lines with a ? could not be checked or are not supported',
    '  ok       agent       knows it',
    '  ?        api-server  later changes may not be in effect: it hangs',
    '  ?        ovn-northd  later changes may not be in effect: it hangs',
  ]);
});

it('an agent that does not answer is for the other checks to say', async () =>
  expect(await failedDaemons(sourcesWith(() => Promise.reject(new Error('no answer'))))).toEqual([]));

it('a switch that has stopped is not asked, and nobody else is kept from it', async () => {
  const asked = async (component: string, file: string) => {
    const sources = failing(component);
    return await withoutStopped(sources, failedDaemons(sources)).runner.run({ file, args: [] });
  };
  await expect(asked('ovs-vswitchd', 'ovs-ofctl')).rejects.toThrow('it hangs');
  expect((await asked('ovs-vswitchd', 'nft')).stdout).toBe('asked');
  expect((await asked('ovn-northd', 'ovs-ofctl')).stdout).toBe('asked');
});
