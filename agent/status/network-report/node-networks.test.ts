import { expect, it } from 'vitest';
import type { BackendName } from '../../../api/agent-status.ts';
import { DONE, type Status } from '../../../base/reconciler.ts';
import type { Diagnostic } from '../../model/fragment.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { fakeReconciler } from '../../testing/fake-reconciler.ts';
import { followNetworks, lookAtNetwork, type NodeNetworks } from './node-networks.ts';

type StatusListener = (event: { readonly owner: string; readonly status: Status }) => void;

const setUp = () => {
  const cluster = new TestCluster('n1')
    .node('n1', { id: 2, subnets: { default: ['10.128.0.0/24'], red: ['10.1.0.0/24'] } })
    .network('red', { id: 1, topology: 'layer3', subnets: ['10.1.0.0/16'], namespace: 'r', nad: 'net' })
    .network('blue', { id: 2, topology: 'layer3', subnets: ['10.2.0.0/16'], namespace: 'b', nad: 'net' });
  const states = new Map<string, Status>();
  const ports = new Map<string, Status>();
  const diagnostics = new Map<string, readonly Diagnostic[]>();
  const unseen = new Map<string, Status>();
  const unused = new Set<string>();
  const rendered = new Set<(owners: readonly string[]) => void>();
  const redefined = new Set<(network: string) => void>();
  const looks = new Set<(owners: ReadonlySet<string>) => void>();
  const status = new Set<StatusListener>();
  const followed =
    <Listener>(listeners: Set<Listener>) =>
    (listener: Listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    };
  const reconciler = { onStatus: followed(status) };
  const backends: readonly (readonly [BackendName, ReadonlyMap<string, Status>])[] = [
    ['northbound', states],
    ['openvswitch', ports],
    ['openflow', unseen],
  ];
  const parts = {
    core: {
      facts: cluster.facts,
      feeder: { networks: { createdAt: (name: string) => `created ${name}`, onRedefined: followed(redefined) } },
      onRendered: followed(rendered),
    },
    databases: { northbound: { reconciler }, southbound: { reconciler }, openvswitch: { reconciler } },
    datapath: { onLook: followed(looks) },
    sources: {
      node: 'n1',
      facts: cluster.facts,
      reconcilers: new Map(
        backends.map(([name, of]) => [name, fakeReconciler({ status: (owner) => of.get(owner) ?? DONE })]),
      ),
      isHere: (network: string) => !unused.has(network),
      ownersOfNetwork: (network: string) => [`layer3:${network}`, `network-nodes:n1/${network}`],
      diagnostics,
    },
  } as unknown as NodeNetworks;
  return { cluster, parts, states, ports, diagnostics, unseen, unused, redefined, rendered, looks, status };
};

const RED = { id: 1, createdAt: 'created red' };

it('a network is ready when all who want something of it have it', () => {
  const { parts } = setUp();
  expect(lookAtNetwork(parts, 'red')).toEqual({ ...RED, state: 'Ready', message: undefined });
  expect(lookAtNetwork(parts, 'green')).toBeUndefined();
});

it('it waits while something is not written, in whatever place, and says why', () => {
  const { parts, states, ports, unseen } = setUp();
  const look = () => lookAtNetwork(parts, 'red');
  unseen.set('layer3:red', { kind: 'pending' });
  expect(look()).toEqual({ ...RED, state: 'Pending', message: 'openflow is not programmed yet' });
  unseen.set('layer3:red', { kind: 'pending', message: 'no answer' });
  expect(look()).toMatchObject({ state: 'Pending', message: 'openflow is not programmed yet: no answer' });
  unseen.clear();
  ports.set('network-nodes:n1/red', { kind: 'waiting', message: 'a port' });
  expect(look()).toMatchObject({ state: 'Pending', message: 'a port' });
  states.set('layer3:red', { kind: 'failed', message: 'EINVAL' });
  expect(look()).toMatchObject({ state: 'Failed', message: 'EINVAL' });
  expect(lookAtNetwork(parts, 'blue')).toMatchObject({
    state: 'Pending',
    message: 'the cluster manager has not allocated a subnet of it for this node',
  });
});

it('it failed when it could not even be rendered; a mere diagnostic is no failure', () => {
  const { parts, diagnostics } = setUp();
  const problem = { object: 'Network/red', message: 'no gateway of it' };
  diagnostics.set('layer3:red', [{ ...problem, severity: 'warning' }]);
  expect(lookAtNetwork(parts, 'red')).toMatchObject({ state: 'Ready' });
  diagnostics.set('layer3:red', [{ ...problem, severity: 'error' }]);
  expect(lookAtNetwork(parts, 'red')).toMatchObject({ state: 'Failed', message: 'no gateway of it' });
});

it('a network that nothing here uses is not to be here, and so not failing', () => {
  const { parts, unused, states } = setUp();
  unused.add('red');
  states.set('layer3:red', { kind: 'failed', message: 'EINVAL' });
  expect(lookAtNetwork(parts, 'red')).toBeUndefined();
});

it('an event touches the network that it is about, and no other', () => {
  const { cluster, parts, redefined, rendered, looks, status } = setUp();
  const touched: string[] = [];
  let unready = 0;
  const end = followNetworks(parts, {
    touch: (network) => touched.push(network),
    touchUnready: () => {
      unready += 1;
    },
  });
  const taken = () => touched.splice(0).sort();
  expect(taken()).toEqual(['blue', 'default', 'red']);
  for (const listener of rendered) listener(['layer3:red', 'zone:', 'pods:r/web', 'network-nodes:n2/blue']);
  expect(taken()).toEqual(['blue', 'red']);
  // One of each database.
  for (const listener of status) listener({ owner: 'layer3:red', status: { kind: 'done' } });
  for (const listener of looks) listener(new Set(['host-network:blue', 'pods:r/web']));
  expect([taken(), unready]).toEqual([['blue', 'red', 'red', 'red'], 1]);
  cluster.facts.set('networkInUse', 'red', true);
  cluster.facts.set('network', 'blue', undefined);
  cluster.facts.set('namespace', 'x', { name: 'x', wantsPrimaryNetwork: false });
  expect(taken()).toEqual(['blue', 'red']);
  // Another NAD defines it now: whoever counts reports compares with that one.
  for (const listener of redefined) listener('red');
  expect(taken()).toEqual(['red']);
  end();
  expect([redefined.size, rendered.size, looks.size, status.size]).toEqual([0, 0, 0, 0]);
  cluster.facts.set('networkInUse', 'red', undefined);
  expect(taken()).toEqual([]);
});
