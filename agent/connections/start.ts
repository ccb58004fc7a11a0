/** Limits the connections of networks, watches them, and reports those that are near their limit. */
import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import { openConntrack } from '../../datapath/conntrack/conntrack.ts';
import { INTEGRATION_BRIDGE } from '../cni/vswitch-operations.ts';
import type { Databases } from '../databases/databases.ts';
import type { Core } from '../wiring/core.ts';
import type { Edges } from '../wiring/edges.ts';
import { type ConnectionUsage, watchConnections } from './usage.ts';
import { keepZoneLimits } from './zone-limits.ts';
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
    names: () => Promise.resolve(zoneNamesHere(databases)),
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
  const limits = keepZoneLimits({
    ...{ node, northbound: databases.northbound.replica, zones: databases.zones, clock: systemClock },
    session: databases.openvswitch.session,
    onError: (error) => log.warn({ err: error }, 'connections of networks cannot be limited'),
  });
  metrics.gauges('udn_agent_network_connections_ratio', () =>
    [...usage.nearlyFull()].map(([network, fullness]) => [{ network }, fullness] as const),
  );
  return {
    nearlyFull: () => usage.nearlyFull(),
    problems: () => [...limits.problems(), ...usage.problems()],
    stop: () => {
      limits.stop();
      usage.stop();
    },
  };
};

const zoneNamesHere = ({ zones }: Databases): ReadonlyMap<number, string> =>
  zoneNames(zones.findOne('Bridge', 'name', INTEGRATION_BRIDGE)?.external_ids ?? {});
