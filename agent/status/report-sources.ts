import type { ClusterConfig } from '../../api/cluster-config.ts';
import type { OvsPorts } from '../cni/ovs-ports.ts';
import type { Core } from '../core.ts';
import { NORTHBOUND_CLAIMS } from '../databases/northbound.ts';
import type { Edges } from '../edges.ts';
import { FEATURES } from '../features/index.ts';
import type { NodeKeeper } from '../node/node-keeper.ts';
import { databasePlace } from './database-place.ts';
import { networkFinder } from './network-of.ts';
import type { Place } from './places.ts';
import type { ReportSources } from './report.ts';

export interface Parts {
  readonly edges: Pick<Edges, 'databases' | 'inputs'>;
  readonly core: Core;
  readonly ports: OvsPorts;
  readonly keeper: Pick<NodeKeeper, 'problems'>;
  readonly node: string;
  readonly cluster: ClusterConfig;
  /** Places other than databases: flows, the host, nftables; see `itemPlace`. */
  readonly places?: readonly Place[];
}

/** What the status server reads, always as it is at the moment. */
export const reportSources = ({
  edges: { databases, inputs },
  core,
  ports,
  keeper,
  node,
  cluster,
  places = [],
}: Parts): ReportSources => ({
  node,
  facts: core.facts,
  registry: core.registry,
  ports,
  ownerState: (owner) => databases.northbound.reconciler.status(owner),
  unfinished: () =>
    [databases.northbound, databases.southbound, databases.openvswitch].flatMap(({ name, reconciler }) =>
      [...reconciler.unfinished()].map(([owner, state]) => ({ database: name, owner, state })),
    ),
  diagnostics: core.engine.diagnostics,
  inputProblems: () => [...inputs.problems(), ...core.feeder.networks.problems, ...keeper.problems()],
  cluster,
  places: [
    databasePlace('northbound', databases.northbound, NORTHBOUND_CLAIMS),
    databasePlace('southbound', databases.southbound),
    databasePlace('openvswitch', databases.openvswitch),
    ...places,
  ],
  networkOf: networkFinder({
    subjects: SUBJECTS,
    isNetwork: (name) => core.facts.get('network', name) !== undefined,
    networkOfPod: (pod) => {
      const attachments = core.registry.get(pod)?.attachments ?? [];
      return (attachments.find(({ role }) => role === 'primary') ?? attachments[0])?.network.name;
    },
  }),
});

const SUBJECTS = new Map(FEATURES.map(({ name, over }) => [name, over]));
