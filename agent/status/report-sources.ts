import type { OvsPorts } from '../cni/ovs-ports.ts';
import type { Core } from '../core.ts';
import type { Edges } from '../edges.ts';
import type { ReportSources } from './report.ts';

export interface Parts {
  readonly edges: Pick<Edges, 'databases' | 'inputs'>;
  readonly core: Core;
  readonly ports: OvsPorts;
  readonly node: string;
}

/** What the status server reads, always as it is at the moment. */
export const reportSources = ({ edges: { databases, inputs }, core, ports, node }: Parts): ReportSources => ({
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
  inputProblems: () => [...inputs.problems(), ...core.feeder.networks.problems],
});
