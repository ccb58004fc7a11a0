/**
 * Who reaches whom, with packets: clusters of each size and of each choice of families, tenants with the same addresses.
 * Needs root and `make build`.
 */
import { describe, expect, it } from 'vitest';
import type { Family } from '../../net/ip.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { differences } from '../oracles/reachability/evaluate.ts';
import { intendedNetworks, unintended } from '../oracles/reachability/intended.ts';
import { measureCluster, readPods } from '../oracles/reachability/measure.ts';
import { PROTOCOLS } from '../oracles/reachability/types.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { memberNodes, TENANTS, tenants } from './support/cluster/tenants.ts';
import { removeAcls } from './support/state/acls.ts';
import { expectAsIntended } from './support/state/as-intended.ts';

interface Shape {
  readonly ipFamily: '4' | '6' | 'dual';
  readonly families: readonly Family[];
  readonly nodes: readonly string[];
}

const SHAPES: readonly Shape[] = [
  { ipFamily: '4', families: [4], nodes: ['node-1'] },
  { ipFamily: '4', families: [4], nodes: ['node-1', 'node-2'] },
  { ipFamily: '6', families: [6], nodes: ['node-1', 'node-2'] },
  { ipFamily: 'dual', families: [4, 6], nodes: ['node-1', 'node-2', 'node-3'] },
];

describe.each(SHAPES)('$nodes.length nodes, IP family $ipFamily', ({ ipFamily, families, nodes }) => {
  const cluster = useCluster({ name: `test-reach-${ipFamily}-${nodes.length}`, nodes: nodes.length, ipFamily });
  const manifests = tenants({ families, nodes });

  it('tenants reach their own pods and nobody else, at every address, with every protocol', async () => {
    const sandbox = cluster();
    await applyAndWait(sandbox, manifests);
    const pods = await readPods(await sandbox.objects());
    expect(unintended(pods, intendedNetworks(manifests), families)).toEqual([]);
    const results = await expectAsIntended(sandbox);
    // Counted here once more, and not with what is tested.
    const members = memberNodes(nodes).length;
    const tenantCount = Object.keys(TENANTS).length;
    const reached = results.filter(({ observed }) => observed);
    expect(reached).toHaveLength(tenantCount * members * (members - 1) * families.length * PROTOCOLS.length);
    const interfaces = 2 * (tenantCount - 1) + 1;
    expect(results).toHaveLength(
      (tenantCount * members - 1) * members * interfaces * families.length * PROTOCOLS.length,
    );
  });
});

/** Of the agent, and of a measurement that two other files slow down. */
const RESTORED_MS = 60_000;

describe('the measurement itself', () => {
  const cluster = useCluster({ name: 'test-reach-broken', nodes: 1, ipFamily: 'dual' });

  it('sees the locked interfaces open when their ACLs are gone, and the agent brings them back', async () => {
    const sandbox = cluster();
    await applyAndWait(sandbox, tenants({ families: [4, 6], nodes: ['node-1'] }));
    await expectAsIntended(sandbox);
    await sandbox.kill('node-1', 'agent', 'SIGSTOP');
    await removeAcls(sandbox, 'node-1');
    const found = differences(await measureCluster(sandbox));
    await sandbox.kill('node-1', 'agent', 'SIGCONT');
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found.map(({ role, expected, observed }) => `${role} ${expected} ${observed}`))).toEqual(
      new Set(['infrastructure-locked false true', 'primary false true']),
    );
    // Nothing but the default network is open: tenants are apart without any ACL.
    expect(new Set(found.map(({ network }) => network.to))).toEqual(new Set(['default']));
    await eventually(() => expectAsIntended(sandbox), RESTORED_MS);
  });
});
