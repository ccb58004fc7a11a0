/** A graph as one SVG without scripts and without anything from elsewhere. Pure. */
import type { Box, Graph, NetworkGraph, NodeGraph } from './graph.ts';

export const svgOf = (graph: Graph): string => {
  const drawn: string[] = [];
  let y = MARGIN;
  for (const network of graph.networks) {
    const band = bandOf(network);
    drawn.push(`<g transform="translate(${MARGIN} ${y})">`, ...band.parts, '</g>');
    y += band.height + BAND_GAP;
  }
  const notes = graph.networks.length === 0 ? ['no networks', ...graph.notes] : graph.notes;
  for (const note of notes) {
    drawn.push(text(MARGIN, y + LINE, 'note', shortened(note)));
    y += LINE;
  }
  const width = MARGIN * 2 + COLUMNS.length * BOX_WIDTH + (COLUMNS.length - 1) * COLUMN_GAP;
  const height = y + MARGIN;
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`,
    '<title>User-defined networks</title>',
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...drawn,
    '</svg>',
  ].join('\n')}\n`;
};

const MARGIN = 16;
const BOX_WIDTH = 236;
const COLUMN_GAP = 56;
const BAND_GAP = 28;
const BOX_GAP = 10;
const LINE = 16;
const PADDING = 8;
const MOST_CHARACTERS = 30;
const MOST_LINES = 6;
/** Of the cause: the whole of it is in the title. */
const MOST_WHY = 3;
const COLUMNS = ['service', 'network', 'node', 'pod'] as const;
type Column = (typeof COLUMNS)[number];

/** For paper and for dark rooms. */
const STYLE = [
  'text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2937}',
  '.paper{fill:#fff}.box{fill:#f3f4f6;stroke:#6b7280}.network{fill:#dbeafe;stroke:#1d4ed8}.service{fill:#ede9fe;stroke:#6d28d9}',
  '.node{fill:#ecfdf5;stroke:#047857}.gateway{fill:#fef3c7;stroke:#b45309}.more{fill:#fff;stroke-dasharray:4 3}',
  '.broken{fill:#fde8e8;stroke:#c81e1e;stroke-width:2}.why{fill:#9b1c1c}.first{font-weight:bold}.note{fill:#6b7280}',
  '.edge{fill:none;stroke:#9ca3af}.edge.cut{stroke:#c81e1e;stroke-width:2;stroke-dasharray:5 4}',
].join('');

interface Place {
  readonly column: Column;
  readonly y: number;
  readonly height: number;
}

/** Services, the network, its nodes and their pods: a tree, each box in the middle of what hangs on it. */
const bandOf = ({ network, services, nodes }: NetworkGraph): { readonly parts: string[]; readonly height: number } => {
  const boxes: string[] = [];
  const edges: string[] = [];
  const put = (box: Box, column: Column, y: number): Place => {
    const place = { column, y, height: heightOf(box) };
    boxes.push(boxText(box, place));
    return place;
  };
  let end = 0;
  const centers = nodes.map((part) => {
    const placed = placeNode(part, end, put);
    end = placed.end + BOX_GAP;
    edges.push(...placed.edges);
    return { place: placed.node, isCut: part.node.broken !== undefined };
  });
  let serviceEnd = 0;
  const sources = services.map((service) => {
    const place = put(service, 'service', serviceEnd);
    serviceEnd = place.y + place.height + BOX_GAP;
    return { place, isCut: service.broken !== undefined };
  });
  const height = Math.max(end, serviceEnd, heightOf(network) + BOX_GAP) - BOX_GAP;
  const center = put(network, 'network', Math.round((height - heightOf(network)) / 2));
  edges.push(...sources.map(({ place, isCut }) => edge(place, center, isCut)));
  edges.push(...centers.map(({ place, isCut }) => edge(center, place, isCut)));
  return { parts: [...edges, ...boxes], height };
};

const placeNode = (
  { node, gateway, pods }: NodeGraph,
  from: number,
  put: (box: Box, column: Column, y: number) => Place,
): { readonly node: Place; readonly end: number; readonly edges: readonly string[] } => {
  let y = from;
  const leaves = [...(gateway === undefined ? [] : [gateway]), ...pods].map((box) => {
    const place = put(box, 'pod', y);
    y = place.y + place.height + BOX_GAP;
    return { place, isCut: box.broken !== undefined };
  });
  const height = Math.max(y - BOX_GAP - from, heightOf(node));
  const place = put(node, 'node', from + Math.round((height - heightOf(node)) / 2));
  return { node: place, end: from + height, edges: leaves.map((leaf) => edge(place, leaf.place, leaf.isCut)) };
};

interface Line {
  readonly kind: 'first' | 'why' | '';
  readonly content: string;
}

const linesOf = ({ lines, broken }: Box): readonly Line[] => [
  ...lines.slice(0, MOST_LINES).map((line, i): Line => ({ kind: i === 0 ? 'first' : '', content: shortened(line) })),
  ...(broken === undefined ? [] : wrapped(broken).map((content): Line => ({ kind: 'why', content }))),
];

/** At spaces where there are some. */
const wrapped = (message: string): readonly string[] => {
  const lines = [''];
  for (const word of message.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if ([...longer].length <= MOST_CHARACTERS || lines.at(-1) === '') lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  const shown = lines.slice(0, MOST_WHY).map(shortened);
  return lines.length <= MOST_WHY ? shown : [...shown.slice(0, -1), shortened(lines.slice(MOST_WHY - 1).join(' '))];
};

const heightOf = (box: Box): number => linesOf(box).length * LINE + PADDING * 2 - 4;

const xOf = (column: Column): number => COLUMNS.indexOf(column) * (BOX_WIDTH + COLUMN_GAP);

const boxText = (box: Box, { column, y, height }: Place): string => {
  const x = xOf(column);
  const classes = ['box', box.kind, ...(box.broken === undefined ? [] : ['broken'])].join(' ');
  const whole = [...box.lines, ...(box.broken === undefined ? [] : [box.broken])].join('\n');
  const lines = linesOf(box).map(({ kind, content }, i) =>
    text(x + PADDING, y + PADDING + (i + 1) * LINE - 6, kind, content),
  );
  const frame = `<rect class="${classes}" x="${x}" y="${y}" width="${BOX_WIDTH}" height="${height}" rx="6"/>`;
  return ['<g>', `<title>${xml(whole)}</title>`, frame, ...lines, '</g>'].join('');
};

const edge = (from: Place, to: Place, isCut: boolean): string => {
  const [x1, y1] = [xOf(from.column) + BOX_WIDTH, from.y + from.height / 2];
  const [x2, y2] = [xOf(to.column), to.y + to.height / 2];
  const middle = (x1 + x2) / 2;
  return `<path class="edge${isCut ? ' cut' : ''}" d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}"/>`;
};

const text = (x: number, y: number, kind: string, content: string): string =>
  `<text${kind === '' ? '' : ` class="${kind}"`} x="${x}" y="${y}">${xml(content)}</text>`;

/** The whole of it is in the box's title. */
const shortened = (line: string): string => {
  const characters = [...line];
  return characters.length <= MOST_CHARACTERS ? line : `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…`;
};

/** Text of an element. Names are anybody's; what XML 1.0 (section 2.2) knows no character for is left out. */
export const xml = (content: string): string =>
  [...content]
    .filter((character) => isXmlCharacter(character.codePointAt(0) ?? 0))
    .map((character) => REFERENCES[character] ?? character)
    .join('');

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const isXmlCharacter = (code: number): boolean =>
  code === 0x9 ||
  code === 0xa ||
  (code >= 0x20 && code < 0xd800) ||
  (code >= 0xe000 && code < 0xfffe) ||
  code >= 0x10000;
