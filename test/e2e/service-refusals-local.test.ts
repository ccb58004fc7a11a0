/**
 * Services without endpoints in local gateway mode, where the host's own stack leads everybody to them: it is refused at once who
 * asks. Shared mode: service-faults.test.ts. Needs root and `make build`.
 */
import { expect, it } from 'vitest';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { askFrom, type RunThere, type Target } from '../oracles/reachability/service-clients.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { plainNamespace } from './support/cluster/manifests.ts';
import {
  addressTargets,
  entryPointsOf,
  fromHost,
  fromOutside,
  nodePortTargets,
  publicService,
  routeBy,
} from './support/services/entry-points.ts';
import { outcomes } from './support/services/expectations.ts';
import { backend, targetsOf } from './support/services/services.ts';

const cluster = useCluster({ name: 'test-service-refusals', ipFamily: 'dual', gatewayMode: 'local' });

const NODE = 'node-1';

const expectOutcome = (run: RunThere, targets: readonly Target[], outcome: string): Promise<void> =>
  eventually(async () => {
    const attempts = await askFrom(run, targets);
    expect(outcomes(attempts), JSON.stringify(attempts)).toEqual([outcome]);
    for (const { seconds } of attempts) expect(seconds).toBeLessThan(1);
  });

it('processes of the node and clients outside are refused until there is an endpoint, and when it has gone', async () => {
  const entryPoints = { ...entryPointsOf(0), ingress: [] };
  await applyAndWait(cluster(), [plainNamespace('plain'), publicService('plain', 'late', 'late', entryPoints)]);
  await routeBy(cluster(), NODE, entryPoints);
  const outside = [...nodePortTargets(NODE, entryPoints), ...addressTargets(entryPoints)];
  const inside = [...outside, ...(await targetsOf(cluster(), 'plain/late'))];
  const expectAll = async (outcome: string): Promise<void> => {
    await expectOutcome(fromHost(cluster(), NODE), inside, outcome);
    await expectOutcome(fromOutside(cluster()), outside, outcome);
  };
  const only = backend('plain', 'plain-late', 'node-2', 'late');
  await expectAll('refused');
  await applyAndWait(cluster(), [only]);
  await expectAll('answered');
  await (await cluster().objects()).delete([only], { timeoutSeconds: 30 });
  await expectAll('refused');
}, 60_000);
