/** Who asks for Services of the matrix. */
import type { Owner, Source } from './dimensions.ts';
import { NAMESPACES, NEAR, TWIN } from './world.ts';

export interface Asked {
  readonly from: Source;
  /** Whose Services. */
  readonly owners: readonly Owner[];
}

export interface MatrixClient {
  readonly kind: 'pod' | 'host-network pod' | 'node' | 'outside';
  /** Of pods `namespace/name`. */
  readonly name: string;
  readonly asked: readonly Asked[];
}

const pod = (namespace: string, own: readonly Asked[]): MatrixClient => ({
  kind: 'pod',
  name: `${namespace}/client`,
  asked: own,
});

const hostPod = (owner: Owner): MatrixClient => ({
  kind: 'host-network pod',
  name: `${NAMESPACES[owner]}/host-${NEAR}`,
  asked: [{ from: 'host-network pod of the namespace', owners: [owner] }],
});

const ALL: readonly Owner[] = ['layer 3', 'layer 2', 'default'];

export const CLIENTS: readonly MatrixClient[] = [
  pod(NAMESPACES['layer 3'], [
    { from: 'pod of the network', owners: ['layer 3'] },
    { from: 'pod of another tenant', owners: ['layer 2', 'default'] },
  ]),
  pod(NAMESPACES['layer 2'], [
    { from: 'pod of the network', owners: ['layer 2'] },
    { from: 'pod of another tenant', owners: ['layer 3', 'default'] },
  ]),
  // Its own addresses are those of endpoints that it asks for.
  pod(TWIN, [{ from: 'pod of another tenant', owners: ['layer 3'] }]),
  pod(NAMESPACES.default, [
    { from: 'pod of the network', owners: ['default'] },
    { from: 'pod of the default network', owners: ['layer 3', 'layer 2'] },
  ]),
  { kind: 'node', name: NEAR, asked: [{ from: 'process of a node', owners: ALL }] },
  ...ALL.map(hostPod),
  { kind: 'outside', name: 'a host outside', asked: [{ from: 'outside', owners: ALL }] },
];
