/** Daemons of OVS and OVN are killed while pods are added and deleted. Needs root and `make build`. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { KillableName, Sandbox } from '../../sandbox/index.ts';
import { startCluster } from './support/cluster.ts';
import { prepareSurvival, type Survival } from './support/faults/survive.ts';

let sandbox: Sandbox;
let survival: Survival;

beforeAll(async () => {
  sandbox = await startCluster({ name: 'test-faults-daemons' });
  survival = await prepareSurvival(sandbox);
});
afterAll(() => sandbox?.down());

describe('pods are added and deleted all the same when somebody kills', () => {
  it.each<KillableName>(['nb', 'northd'])('%s; packets go on', (program) => survival.survive([program], 'goes on'));

  it.each<KillableName>(['ovsdb-server', 'sb', 'ovn-controller', 'ovs-vswitchd'])('%s', (program) =>
    survival.survive([program], 'may pause'),
  );

  it('all of them at once', () =>
    survival.survive(['ovsdb-server', 'nb', 'sb', 'northd', 'ovn-controller', 'ovs-vswitchd'], 'may pause'));
});

it('what others made is untouched', () => survival.requireForeignUntouched());
