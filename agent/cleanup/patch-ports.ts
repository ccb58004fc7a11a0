import type { Operation } from '../../ovsdb/transact/operation.ts';
import type { WireAtom } from '../../ovsdb/wire/notation.ts';
import { INTEGRATION_BRIDGE } from '../cni/vswitch-operations.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import { localnetPortName } from '../model/names.ts';

/**
 * Removes the patch ports between the integration bridge and this one. ovn-controller made them for localnet ports, and
 * does not make them again when those are gone; it takes its time to remove them, and never does once it is configured
 * without a database. Pure.
 */
export const unpatchOperations = (replica: VswitchReplica, bridge: string): readonly Operation[] => {
  const ports = [...replica.rows('Port')].filter(({ name }) => isPatch(name, bridge)).map(({ _uuid }) => _uuid);
  return [...replica.rows('Bridge')].flatMap((row): Operation[] => {
    const here = row.ports.filter((port) => ports.includes(port));
    if (here.length === 0) return [];
    const value = ['set', here.map((uuid): WireAtom => ['uuid', uuid])] as const;
    return [
      { op: 'mutate', table: 'Bridge', where: [['name', '==', row.name]], mutations: [['ports', 'delete', value]] },
    ];
  });
};

/** Names of gateways' localnet ports begin with that of the bridge. Those of localnets end alike, on whichever bridge. */
const isPatch = (name: string, bridge: string): boolean =>
  name.startsWith(`patch-${INTEGRATION_BRIDGE}-to-${bridge}_`) ||
  name.startsWith(`patch-${bridge}_`) ||
  (name.startsWith(`patch-${INTEGRATION_BRIDGE}-to-`) && name.endsWith(LOCALNET_PORT)) ||
  (name.startsWith('patch-') && name.endsWith(`${LOCALNET_PORT}-to-${INTEGRATION_BRIDGE}`));

const LOCALNET_PORT = localnetPortName('');
