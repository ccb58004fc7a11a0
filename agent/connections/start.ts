/** Watches the connections of networks, and reports those that are near their limit. */
import type { Logger } from 'pino';
import { z } from 'zod';
import { systemClock } from '../../base/clock.ts';
import { openConntrack } from '../../datapath/conntrack/conntrack.ts';
import { openVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import { Transaction } from '../../ovsdb/transact/transaction.ts';
import { INTEGRATION_BRIDGE } from '../cni/vswitch-operations.ts';
import type { Databases } from '../databases/databases.ts';
import type { Core } from '../wiring/core.ts';
import type { Edges } from '../wiring/edges.ts';
import { type ConnectionUsage, watchConnections } from './usage.ts';
import { zoneNames, zoneOwners } from './zone-owners.ts';

interface StartOptions {
  readonly edges: Pick<Edges, 'databases' | 'metrics' | 'emitNodeEvent' | 'emitPodEvent'>;
  readonly core: Pick<Core, 'facts' | 'registry'>;
  readonly node: string;
  readonly spawnAddon: string;
  readonly log: Logger;
}

export const startConnectionUsage = ({ edges, core, node, spawnAddon, log }: StartOptions): ConnectionUsage => {
  const { databases, metrics, emitNodeEvent, emitPodEvent } = edges;
  const conntrack = openConntrack(spawnAddon);
  const usage = watchConnections({
    node,
    limits: (signal) => conntrack.limits(signal),
    names: () => readZoneNames(databases),
    owners: () => zoneOwners(core.facts.ids('network'), core.registry.values(), node),
    clock: systemClock,
    report: ({ pod }, message) => {
      emitNodeEvent(node, 'ConnectionLimitNear', message);
      const uid = pod === undefined ? undefined : core.facts.get('pod', pod)?.uid;
      const [namespace, name] = pod?.split('/') ?? [];
      if (namespace !== undefined && name !== undefined)
        emitPodEvent({ namespace, name, uid }, 'ConnectionLimitNear', message);
    },
    onError: (error) => log.warn({ err: error }, 'connections of networks cannot be counted'),
  });
  metrics.gauges('udn_agent_network_connections_ratio', () =>
    [...usage.nearlyFull()].map(([network, fullness]) => [{ network }, fullness] as const),
  );
  return usage;
};

/** Not mirrored: ovn-controller writes them with every port. */
const readZoneNames = async ({ openvswitch }: Databases): Promise<ReadonlyMap<number, string>> => {
  const { operations } = new Transaction(openVSwitch).select(
    ...(['Bridge', [['name', '==', INTEGRATION_BRIDGE]], ['external_ids']] as const),
  );
  const [result] = await openvswitch.session.transact(operations);
  return zoneNames(bridgeSchema.parse(result?.rows?.[0]).external_ids);
};

/** RFC 7047, section 5.1, `<map>`. */
const bridgeSchema = z.object({
  external_ids: z
    .tuple([z.literal('map'), z.array(z.tuple([z.string(), z.string()]))])
    .transform(([, pairs]) => Object.fromEntries(pairs)),
});
