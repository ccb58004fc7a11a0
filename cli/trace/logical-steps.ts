/** An ovn-trace in words: what changes where the packet is, or what it is. Pure. */
import { ACL_OFFSET, isAcl } from './logical-result.ts';
import type { LogicalBlock, LogicalStage } from './ovn-trace.ts';
import { kindOfDatapath, outputsOfStage, ownBlocks } from './own-blocks.ts';

export const logicalSteps = (blocks: readonly LogicalBlock[]): string[] =>
  ownBlocks(blocks).flatMap((block) => [...titleLines(block), ...block.stages.flatMap(stageLines)]);

/** Every stage, with its flow, what was done, and what came of it. */
export const allLogicalStages = (blocks: readonly LogicalBlock[]): string[] =>
  blocks.flatMap(({ title, depth, stages }) => {
    const indent = ' '.repeat(depth);
    return [
      `${indent}${title}`,
      ...stages.flatMap(({ table, stage, flow, actions, notes }) => [
        `${indent}  ${table} ${stage}: ${flow === undefined ? 'no flow matches' : `${flow.match} (priority ${flow.priority})`}`,
        ...[...actions, ...notes.map((note) => `→ ${note}`)].map((text) => `${indent}    ${text}`),
      ]),
    ];
  });

const titleLines = (block: LogicalBlock): string[] => {
  const { title, pipeline } = block;
  if (pipeline?.direction === 'ingress')
    return [`${kindOfDatapath(block)} ${pipeline.datapath}: from port ${pipeline.inport}`];
  const [, end, address] = /^ct_\w+\(ip[46]\.(src|dst)=([^,)]+)/.exec(title) ?? [];
  if (address !== undefined) return [`  ${end === 'src' ? 'source' : 'destination'} becomes ${address}`];
  const [, state] = /^ct_next\(ct_state=([a-z|]+)/.exec(title) ?? [];
  return state === undefined ? [] : [`  conntrack: ${state}`];
};

const stageLines = (stage: LogicalStage): string[] =>
  [...decisionLines(stage), ...endLines(stage)].map((text) => `  ${text}`);

const decisionLines = (stage: LogicalStage): string[] => {
  const { flow, actions } = stage;
  if (flow === undefined) return [];
  if (isAcl(stage)) return [`ACL (priority ${flow.priority - ACL_OFFSET}): ${flow.match}`];
  if (stage.stage === 'lr_in_ip_routing') return [routeText(flow.match, actions)];
  if (stage.stage === 'lr_in_policy' && flow.priority > 0) return [`policy (priority ${flow.priority}): ${flow.match}`];
  if (/^l[rs]_in_(lb|dnat)$/.test(stage.stage) && flow.priority >= FIRST_OF_SERVICES) return [`service: ${flow.match}`];
  return [];
};

/** ovn-northd's own flows of these stages are below. */
const FIRST_OF_SERVICES = 90;

const routeText = (match: string, actions: readonly string[]): string => {
  const value = (name: RegExp): string | undefined =>
    actions.map((action) => name.exec(action)?.[1]).find((found) => found !== undefined);
  const hop = value(/^(?:xx)?reg0 = (.+);$/);
  const port = value(/^outport = "(.+)";$/);
  const [, end, prefix = match] = /ip[46]\.(src|dst) == (\S+)/.exec(match) ?? [];
  const via = hop === undefined || /^ip[46]\.dst$/.test(hop) ? '' : ` by ${hop}`;
  return `route ${end === 'src' ? 'of' : 'to'} ${prefix}${via}${port === undefined ? '' : `, out of ${port}`}`;
};

const endLines = (stage: LogicalStage): string[] => [
  ...stage.notes.flatMap((note) => {
    if (note === 'No MAC binding.') return ['the MAC of the next hop is unknown'];
    const mac = /^MAC binding to (\S+?)\.?$/.exec(note)?.[1];
    return mac === undefined ? [] : [`the next hop is at ${mac}`];
  }),
  ...outputsOfStage(stage).map(({ port, type }) => `to port ${port}${type === '' ? '' : ` (${type})`}`),
  ...(stage.flow === undefined ? [`no flow of stage ${stage.stage} matches`] : []),
  ...(stage.actions.some((action) => action.startsWith('reject {')) ? [`refused by stage ${stage.stage}`] : []),
  ...(stage.actions.includes('drop;') ? [`dropped by stage ${stage.stage}: ${stage.flow?.match}`] : []),
];
