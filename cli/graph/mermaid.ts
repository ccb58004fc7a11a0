/** A graph as a flowchart of Mermaid (https://mermaid.js.org/syntax/flowchart.html), for issues and READMEs. Pure. */
import type { Box, Graph, NetworkGraph } from './graph.ts';

export const mermaidOf = ({ networks, notes }: Graph): string => {
  const lines: string[] = [];
  let count = 0;
  /** Names of boxes are ours: text of others stands in labels alone. */
  const draw = (box: Box): string => {
    const id = `n${count}`;
    count += 1;
    const [open, close] = SHAPES[box.kind];
    lines.push(`    ${id}${open}"${labelOf(box)}"${close}${box.broken === undefined ? '' : ':::broken'}`);
    return id;
  };
  for (const [i, network] of networks.entries()) {
    lines.push(`  subgraph s${i}["${escaped(network.network.lines[0] ?? '')}"]`);
    drawNetwork(network, draw, (edge) => lines.push(`    ${edge}`));
    lines.push('  end');
  }
  for (const note of notes) draw({ kind: 'more', lines: [note], broken: undefined });
  return `${['flowchart LR', ...lines, '  classDef broken fill:#fde8e8,stroke:#c81e1e,color:#771d1d'].join('\n')}\n`;
};

const drawNetwork = (
  { network, services, nodes }: NetworkGraph,
  draw: (box: Box) => string,
  connect: (edge: string) => void,
): void => {
  const center = draw(network);
  for (const service of services) connect(`${draw(service)} --> ${center}`);
  for (const { node, gateway, pods } of nodes) {
    const part = draw(node);
    connect(`${center} --- ${part}`);
    if (gateway !== undefined) connect(`${part} -.-> ${draw(gateway)}`);
    for (const pod of pods) connect(`${part} --- ${draw(pod)}`);
  }
};

const SHAPES: Readonly<Record<Box['kind'], readonly [string, string]>> = {
  network: ['([', '])'],
  service: ['{{', '}}'],
  node: ['[', ']'],
  gateway: ['[/', '/]'],
  pod: ['(', ')'],
  more: ['[', ']'],
};

const labelOf = ({ lines, broken }: Box): string =>
  [...lines, ...(broken === undefined ? [] : [broken])].map(escaped).join('<br/>');

/** All but what means nothing in Mermaid, Markdown and HTML is a character reference: `#35;` ("Entity codes to escape characters"). */
export const escaped = (text: string): string =>
  [...text]
    .map((character) => (/^[\p{L}\p{N} .,:/@()-]$/u.test(character) ? character : reference(character)))
    .join('');

const reference = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  const isText = code >= 0x20 && code !== 0x7f && !(code >= 0x80 && code < 0xa0) && !(code >= 0xd800 && code < 0xe000);
  return isText ? `#${code};` : ' ';
};
