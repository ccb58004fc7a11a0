/** The reporter of a running agent. */
import type { Logger } from 'pino';
import { systemClock } from '../../kube/clock.ts';
import type { Edges } from '../edges.ts';
import type { AgentOptions } from '../options.ts';
import { followNetworks, lookAtNetwork, type NodeNetworks } from './node-networks.ts';
import { NetworkReporter, type ReportObservation } from './reporter.ts';

interface Parts extends NodeNetworks {
  readonly edges: Pick<Edges, 'client' | 'writer' | 'inputs' | 'metrics'>;
  readonly options: Pick<AgentOptions, 'node' | 'networkRendering'>;
  readonly log: Logger;
}

/** To be called when what is wanted has been written once: what was there before the start is not told as missing. */
export const startNetworkReport = (parts: Parts): (() => void) => {
  const { edges, options, log } = parts;
  const { nodes } = edges.inputs;
  const reporter = new NetworkReporter({
    node: options.node,
    rendering: options.networkRendering === 'always' ? 'Always' : 'OnDemand',
    look: (network) => lookAtNetwork(parts, network),
    nodeUid: () => nodes.get(options.node)?.uid,
    nodes: () => nodes.size,
    client: edges.client,
    writer: edges.writer,
    clock: systemClock,
    random: Math.random,
    observe: (observation) => {
      edges.metrics.networkReport(observation);
      logReport(log.child({ module: 'network-report' }), observation);
    },
  });
  const ends = [
    followNetworks(parts, reporter),
    nodes.subscribe(({ key, before, after }) => {
      if (key === options.node && before?.uid !== after?.uid) reporter.touchNode();
    }),
    () => reporter.stop(),
  ];
  return () => {
    for (const end of ends) end();
  };
};

const logReport = (log: Logger, observation: ReportObservation): void => {
  if (observation.kind === 'written') log.debug('networks of this node reported');
  else if (observation.kind === 'failed') log.warn({ err: observation.error }, 'networks of this node not reported');
  else log.info('networks of this node are not reported: the API server knows no NodeNetworkReport');
};
