/**
 * Kubernetes' own 48 cases of NetworkPolicy, with packets: on a layer-3 and a layer-2 network with the same addresses and on the
 * default network, over both families, each pod to each. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICY_CASES } from '../oracles/policies/cases.ts';
import { expectAnswers } from '../oracles/policies/expected.ts';
import { useCluster } from './support/cluster/cluster.ts';
import { someOf } from './support/cluster/sample.ts';
import { POLICIES_IN_FULL } from './support/policies/in-full.ts';
import { policyRows } from './support/policies/rows.ts';
import { PolicyStages } from './support/policies/stage.ts';
import { expectNoDifference } from './support/state/no-difference.ts';

const NODES = ['node-1', 'node-2'] as const;
/** Three seconds each. */
const SAMPLE = 8;
const cluster = useCluster({ name: 'test-policy-table', ipFamily: 'dual' });

let stages: PolicyStages;
beforeAll(async () => {
  stages = await PolicyStages.start(cluster());
}, 300_000);

const cases = POLICIES_IN_FULL ? POLICY_CASES : someOf(POLICY_CASES, SAMPLE);

describe('on layer 3, layer 2 and the default network, IPv4 and IPv6', () => {
  it('all reach all without a policy', async () => {
    await expectAnswers(cluster(), await stages.clear());
  });

  it.each(cases.map(({ title, steps }) => [title, steps] as const))('%s', async (_title, steps) => {
    for (const step of stages.steps(steps)) {
      await expectAnswers(cluster(), await stages.play(step));
      // Whoever has no SCTP sees at least that its rules are in OVN.
      const ofSctp = step.some(([, { policies }]) => JSON.stringify(policies).includes('"SCTP"'));
      const rows = ofSctp ? await Promise.all(NODES.map((node) => policyRows(cluster(), node))) : ['sctp'];
      expect(rows.join('\n')).toMatch(/\bsctp\b/);
    }
  });

  it('nothing is left without a policy, and all reach all', async () => {
    await expectAnswers(cluster(), await stages.clear());
    await expectNoDifference(cluster(), NODES);
  });
});
