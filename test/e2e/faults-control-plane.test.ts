/** Programs that speak with the Kubernetes API are killed while pods are added and deleted. Needs root and `make build`. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { KillableName, Sandbox } from '../../sandbox/index.ts';
import { startCluster } from './support/cluster/cluster.ts';
import { prepareSurvival, type Survival } from './support/faults/survive.ts';

let sandbox: Sandbox;
let survival: Survival;

beforeAll(async () => {
  sandbox = await startCluster({ name: 'test-faults-control' });
  survival = await prepareSurvival(sandbox);
});
afterAll(() => sandbox?.down());

describe('pods are added and deleted all the same, and packets go on, when somebody kills', () => {
  it.each<KillableName>(['agent', 'cluster-manager', 'kubelet', 'api'])('%s', (program) =>
    survival.survive([program], 'goes on'),
  );

  it('agents and kubelets at once', () => survival.survive(['agent', 'kubelet'], 'goes on'));

  it('the API server, the cluster manager and the agents at once', () =>
    survival.survive(['api', 'cluster-manager', 'agent'], 'goes on'));
});

it('what others made is untouched', () => survival.requireForeignUntouched());
