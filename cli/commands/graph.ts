/** `udnctl graph`: a picture of networks, from the API server alone. */
import { writeFile } from 'node:fs/promises';
import type { KubeClient } from '../../kube/types.ts';
import { type NamespaceOptions, namespaceOf, PROGRAMS_NAMESPACE, withClient } from '../cluster/cluster-command.ts';
import { readCluster } from '../cluster/read-cluster.ts';
import { serviceItems } from '../cluster/service-rows.ts';
import { CliError } from '../errors.ts';
import { clusterGraph } from '../graph/graph.ts';
import { mermaidOf } from '../graph/mermaid.ts';
import { svgOf } from '../graph/svg.ts';
import { sceneOf } from '../why/allocations.ts';
import { unreadText } from '../why/finding.ts';

interface GraphTarget {
  readonly format: 'svg' | 'mermaid';
  /** Undefined: standard output. */
  readonly file: string | undefined;
}

const FORMATS = { svg: svgOf, mermaid: mermaidOf };
const ENDINGS: Readonly<Record<string, GraphTarget['format']>> = { svg: 'svg', mmd: 'mermaid', mermaid: 'mermaid' };

/** @param text a format, or a file whose name ends with one @throws CliError */
export const graphTarget = (text: string): GraphTarget => {
  if (text === 'svg' || text === 'mermaid') return { format: text, file: undefined };
  const format = ENDINGS[/\.([a-z]+)$/.exec(text)?.[1] ?? ''];
  if (format === undefined) throw new CliError(`-o "${text}" is not svg, mermaid, or a file .svg, .mmd or .mermaid`, 2);
  return { format, file: text };
};

/** Where to look: NAMESPACE/NAME has it, whatever the namespace of the context is. Undefined: everywhere. */
export const graphNamespace = (
  network: string | undefined,
  options: NamespaceOptions,
  ofContext: string,
): string | undefined => namespaceOf(options, network?.includes('/') ? network.split('/')[0] || ofContext : ofContext);

export const drawGraph = (
  network: string | undefined,
  options: NamespaceOptions & { readonly output: string },
): Promise<readonly string[]> => {
  const { format, file } = graphTarget(options.output);
  return withClient(options, async ({ client, namespace }) => {
    const question = { network, in: graphNamespace(network, options, namespace), now: Date.now(), format };
    const { text, notes } = await graphText(client, question);
    if (file === undefined) process.stdout.write(text);
    else await writeFile(file, text);
    return notes;
  });
};

interface GraphQuestion {
  readonly network: string | undefined;
  /** A namespace; undefined: all. */
  readonly in: string | undefined;
  readonly format: GraphTarget['format'];
  readonly now: number;
}

/** @throws CliError when there is no such network */
const graphText = async (
  client: Pick<KubeClient, 'get' | 'list'>,
  { network, in: namespace, format, now }: GraphQuestion,
): Promise<{ readonly text: string; readonly notes: readonly string[] }> => {
  const options = { namespace, programs: PROGRAMS_NAMESPACE, now };
  const [pods, services] = await Promise.all([
    readCluster(client, { ...options, reports: true }),
    readCluster(client, { ...options, services: true }),
  ]);
  const graph = clusterGraph(sceneOf(pods), serviceItems(sceneOf(services)), { network });
  if (network !== undefined && graph.networks.length === 0) {
    const where = namespace === undefined ? '' : ` in namespace ${namespace}; -A looks everywhere`;
    throw new CliError(`there is no network ${network}${where}`, 1);
  }
  const unread = new Set([...pods.unread, ...services.unread].map(unreadText));
  return { text: FORMATS[format](graph), notes: [...unread] };
};
