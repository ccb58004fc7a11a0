/** The layers of docs/architecture.md: which folder may import which, and which package only one folder may use. */

/** The types of desired state of each backend: features and the model know no more of databases and datapaths. */
const BACKEND_TYPES = [
  'ovsdb/models',
  'ovsdb/desired/types.ts',
  'datapath/openflow/types.ts',
  'datapath/host/types.ts',
  'datapath/nftables/types.ts',
  'datapath/netlink/route/types.ts',
];

/** Each folder may import itself and the folders named here. A longer path wins over a shorter one. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  net: ['base'],
  api: ['base', 'net'],
  kube: ['base', 'net', 'api'],
  ovsdb: ['base', 'net', 'api'],
  datapath: ['base', 'net', 'api'],
  program: ['base', 'net', 'api'],
  agent: ['base', 'net', 'api', 'program', 'kube', 'ovsdb', 'datapath', 'package.json'],
  'agent/model': ['base', 'net', 'api', ...BACKEND_TYPES],
  'agent/features': ['base', 'net', 'api', 'agent/model', ...BACKEND_TYPES],
  'agent/desired': ['base', 'net', 'api', 'agent/model', ...BACKEND_TYPES],
  'cluster-manager': ['base', 'net', 'api', 'program', 'kube', 'package.json'],
  'cni-shim': [],
  cli: ['base', 'net', 'api', 'kube', 'ovsdb', 'datapath', 'program', 'agent', 'cluster-manager'],
  sandbox: ['base', 'net', 'api', 'kube', 'ovsdb', 'datapath', 'program', 'agent', 'cluster-manager'],
  demo: ['base', 'net', 'api', 'kube', 'datapath', 'sandbox', 'test/oracles/reachability'],
  tools: [
    'base',
    'net',
    'api',
    'program',
    'kube',
    'ovsdb',
    'datapath',
    'agent',
    'cluster-manager',
    'cli',
    'sandbox',
    'test/oracles/services',
    'test/e2e/incidents/pages.ts',
    'test/e2e/incidents/recorded.ts',
  ],
  bench: ['base', 'net', 'api', 'program', 'kube', 'ovsdb', 'datapath', 'agent', 'cluster-manager', 'cli', 'sandbox'],
  test: [
    'base',
    'net',
    'api',
    'kube',
    'ovsdb',
    'datapath',
    'agent',
    'cluster-manager',
    'cli',
    'sandbox',
    'tools',
    'bench',
    'demo',
  ],
};

/** Packages that only tests, benchmarks and tools may use. */
export const TEST_ONLY_PACKAGES: readonly string[] = ['vitest', 'fast-check', 'ip-address', '@kubernetes/client-node'];

/** Folders with fewer users than their layer would let in. Tests and benchmarks are free. */
export const RESERVED: Readonly<Record<string, readonly string[]>> = {
  // The API server in memory: no program of a cluster has it in its bundle.
  'kube/embedded': ['kube/embedded', 'sandbox'],
};

/** Folders whose subfolders know nothing of each other, and are known to nobody but one list. Tests keep to it, too. */
export const ROOMS: readonly Rooms[] = [
  { of: 'agent/features', list: 'agent/features/index.ts', shared: 'agent/features/shared' },
];

interface Rooms {
  readonly of: string;
  /** Imports all of them, and is imported for them. */
  readonly list: string;
  /** The subfolder that all of them may import; nothing outside of them does. */
  readonly shared: string;
}

interface Prohibition {
  readonly from: string;
  /** A folder, or one of Node's modules; `node:` stands for all of them. */
  readonly to: string;
  readonly because: string;
}

const PROHIBITIONS: readonly Prohibition[] = [
  { from: 'agent', to: 'datapath/exec', because: 'no child process is on the path of an ADD, a DEL or an event' },
  { from: 'agent', to: 'node:child_process', because: 'no child process is on the path of an ADD, a DEL or an event' },
  { from: 'agent/features', to: 'node:', because: 'features are pure' },
];

export interface Import {
  readonly from: string;
  /** A path from the repository's root, or a package's name. */
  readonly to: string;
  readonly isPackage: boolean;
}

/** The specifiers that a formatted source file imports or re-exports, type-only ones included. */
export const importsOf = (source: string): string[] =>
  [...source.matchAll(/^(?:import|export)\b(?:[^'"`;]*?\sfrom)?\s+'([^'\n]+)';|\bimport\('([^'\n]+)'\)/gm)].map(
    ([, fromClause, dynamic]) => fromClause ?? dynamic ?? '',
  );

/** One message per import that breaks a rule. */
export const violations = (imports: readonly Import[]): string[] => imports.flatMap((edge) => violationOf(edge) ?? []);

const violationOf = (edge: Import): string | undefined => {
  const prohibited = prohibitedBy(edge);
  if (prohibited !== undefined) return `${edge.from} imports ${edge.to}, but ${prohibited.because}`;
  if (edge.to.startsWith('node:')) return undefined;
  return edge.isPackage ? packageViolation(edge) : (roomViolation(edge) ?? layerViolation(edge));
};

const roomViolation = ({ from, to }: Import): string | undefined => {
  for (const { of, list, shared } of ROOMS) {
    const room = roomIn(of, to);
    if (room === undefined || from === list || isIn(from, room)) continue;
    if (room !== shared) return `${from} imports ${to}, but only ${list} may import ${room}`;
    if (!isIn(from, of)) return `${from} imports ${to}, but ${shared} is for ${of} only`;
  }
  return undefined;
};

/** The subfolder that the file is in. Undefined: it is elsewhere, or beside them. */
const roomIn = (folder: string, file: string): string | undefined => {
  if (!isIn(file, folder)) return undefined;
  const [room, ...rest] = file.slice(folder.length + 1).split('/');
  return rest.length === 0 ? undefined : `${folder}/${room}`;
};

const prohibitedBy = ({ from, to }: Import): Prohibition | undefined =>
  isTest(from)
    ? undefined
    : PROHIBITIONS.find(
        (one) =>
          isIn(from, one.from) && (one.to === 'node:' ? to.startsWith('node:') : to === one.to || isIn(to, one.to)),
      );

const layerViolation = ({ from, to }: Import): string | undefined => {
  if (isTest(from)) return undefined;
  if (isTestFile(to)) return `${from} imports ${to}, which is for tests only`;
  const layer = layerOf(from);
  if (layer === undefined) return `${from}: no layer is declared for this folder`;
  const allowed = [layer, ...(LAYERS[layer] ?? [])];
  if (allowed.some((folder) => isIn(to, folder))) return reservation({ from, to });
  return `${from} imports ${to}, but ${layer} may import only ${allowed.join(', ')}`;
};

const reservation = ({ from, to }: Pick<Import, 'from' | 'to'>): string | undefined => {
  const [folder, users] = Object.entries(RESERVED).find(([reserved]) => isIn(to, reserved)) ?? ['', [from]];
  if (users.some((user) => isIn(from, user))) return undefined;
  return `${from} imports ${to}, but only ${users.join(', ')} may use ${folder}`;
};

const packageViolation = ({ from, to }: Import): string | undefined => {
  if (TEST_ONLY_PACKAGES.includes(to) && !isTest(from)) return `${from} imports ${to}, which is for tests only`;
  return undefined;
};

const layerOf = (file: string): string | undefined =>
  Object.keys(LAYERS)
    .filter((layer) => isIn(file, layer))
    .sort((a, b) => b.length - a.length)[0];

const isIn = (file: string, folder: string): boolean => file === folder || file.startsWith(`${folder}/`);

const isTest = (file: string): boolean => isTestFile(file) || isIn(file, 'test') || isIn(file, 'bench');

const isTestFile = (file: string): boolean => /\.(test|suite|case)\.ts$|\/testing\//.test(file);
