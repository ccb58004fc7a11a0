/** What a user asks for, checked and with defaults. */
import { z } from 'zod';
import { CNI_PLUGINS } from '../cni-plugins/recipe.ts';
import { SandboxError } from '../errors.ts';

export const GATEWAY_MODES = ['shared', 'local'] as const;
/** Who makes the gateway bridge: the provisioner (br-ex), or the agent of the NIC that it finds. */
export const UPLINKS = ['bridge', 'nic'] as const;
/** Who runs OVS and OVN: services of the node, or pods that a user installs. */
export const OVN_KINDS = ['services', 'pods'] as const;
export const IP_FAMILIES = ['4', '6', 'dual'] as const;
export const API_KINDS = ['embedded', 'kube'] as const;
export const KUBELET_KINDS = ['builtin', 'real'] as const;
/** Who answers names of Services: nobody, or CoreDNS in a pod. */
export const DNS_KINDS = ['none', 'coredns'] as const;
/** How the API server, which is on no node, reaches Services and pods: not, by a route to the Service subnets, or by konnectivity. */
export const EGRESSES = ['none', 'route', 'konnectivity'] as const;
/** Of tunnels between nodes. */
export const ENCRYPTIONS = ['none', 'ipsec'] as const;
export const KERNELS = ['auto', 'host', 'guest'] as const;
/** What a kernel may lack, by the names of KernelFeatures but for the kernel's datapath, which needs two of them. */
export const NEEDS = ['vrf', 'sctp', 'kernel-datapath'] as const;
/** What runs beside OVS and OVN. */
export const PROGRAMS = ['api', 'kubelet', 'cluster-manager', 'agent'] as const;

export type ApiKind = (typeof API_KINDS)[number];
export type KubeletKind = (typeof KUBELET_KINDS)[number];
export type IpFamilies = (typeof IP_FAMILIES)[number];
export type Need = (typeof NEEDS)[number];
export type ProgramName = (typeof PROGRAMS)[number];

/** Of nodes, so that every node's address fits the node network. */
const MAX_NODES = 200;

const programs = z
  .string()
  .default('all')
  .transform((text, context): ReadonlySet<ProgramName> => {
    if (text === 'all') return new Set(PROGRAMS);
    const names = text === 'none' ? [] : text.split(',');
    const known = names.filter((name): name is ProgramName => PROGRAMS.some((program) => program === name));
    if (known.length < names.length) {
      context.addIssue({ code: 'custom', message: `must be all, none, or some of ${PROGRAMS.join(',')}` });
    }
    return known.length === 0 ? new Set() : new Set(['api', ...known]);
  });

const needs = z
  .union([z.string().transform((text) => text.split(',').filter((name) => name !== '')), z.array(z.string())])
  .default([])
  .pipe(z.array(z.enum(NEEDS, `must be some of ${NEEDS.join(',')}`)));

const schema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/, 'must be lower-case letters, digits and dashes, at most 32')
    .default('default'),
  /** None: only an API server. */
  nodes: z.coerce.number().int().min(0).max(MAX_NODES).default(2),
  gatewayMode: z.enum(GATEWAY_MODES).default('shared'),
  ipFamily: z.enum(IP_FAMILIES).default('dual'),
  uplink: z.enum(UPLINKS).default('bridge'),
  ovn: z.enum(OVN_KINDS).default('services'),
  /** Default: that of the kubelets, real ones need a real one. */
  api: z.enum(API_KINDS).optional(),
  kubelet: z.enum(KUBELET_KINDS).default('builtin'),
  dns: z.enum(DNS_KINDS).default('none'),
  egress: z.enum(EGRESSES).default('none'),
  /** Plugins of others that nodes have. */
  cniPlugins: z.array(z.enum(CNI_PLUGINS)).default([]),
  encryption: z.enum(ENCRYPTIONS).default('none'),
  kernel: z.enum(KERNELS).default('auto'),
  /** What the kernel has to have: `auto` takes a guest's where this machine's lacks it. */
  needs,
  programs,
  /** Whether the custom resource definitions are there from the start: false for those who install them. */
  definitions: z.boolean().default(true),
  /** More environment variables of the agents and of the cluster manager: their flags, for example `UDN_CNI_WAIT`. */
  settings: z
    .record(z.string(), z.string())
    .superRefine((settings, context) => {
      for (const name of Object.keys(settings)) {
        if (/^UDN_[A-Z_]+$/.test(name)) continue;
        context.addIssue({ code: 'custom', path: [name], message: 'must be named UDN_…' });
      }
    })
    .default({}),
  /** How long `up` waits for everything to be ready, in seconds. */
  timeoutSeconds: z.coerce.number().positive().max(3600).default(120),
});

/** As given by a caller: everything may be left out. */
export type SandboxOptionsInput = z.input<typeof schema>;
export type SandboxOptions = Omit<z.output<typeof schema>, 'api'> & { readonly api: ApiKind };

/** @throws SandboxError ERR_SANDBOX_USAGE with a message that names the option */
export const parseOptions = (input: SandboxOptionsInput): SandboxOptions => {
  const { success, data, error } = schema.safeParse(input);
  if (!success) {
    const [issue] = error.issues;
    throw new SandboxError(
      'ERR_SANDBOX_USAGE',
      `${issue?.path.join('.') || 'options'}: ${issue?.message ?? 'invalid'}`,
    );
  }
  if (data.nodes === 0 && (data.programs.has('kubelet') || data.programs.has('agent'))) {
    throw new SandboxError('ERR_SANDBOX_USAGE', 'nodes: kubelet and agent need at least 1');
  }
  if (data.dns !== 'none' && (!data.programs.has('kubelet') || !data.programs.has('agent'))) {
    throw new SandboxError('ERR_SANDBOX_USAGE', 'dns: its pod needs kubelet and agent');
  }
  const { api = data.kubelet === 'real' ? 'kube' : 'embedded' } = data;
  if (data.kubelet === 'real' && api !== 'kube') {
    throw new SandboxError('ERR_SANDBOX_USAGE', 'api: real kubelets need --api kube');
  }
  if (data.egress === 'route' && api !== 'kube') {
    throw new SandboxError('ERR_SANDBOX_USAGE', 'egress: only --api kube opens connections to Services');
  }
  if (data.egress === 'konnectivity' && (data.kubelet !== 'real' || !data.programs.has('agent'))) {
    throw new SandboxError('ERR_SANDBOX_USAGE', 'egress: pods of konnectivity need real kubelets and agents');
  }
  refuseWithoutServices(data);
  return { ...data, api, needs: neededBy(data) };
};

const refuseWithoutServices = ({ ovn, kubelet, uplink, encryption, programs }: z.output<typeof schema>): void => {
  if (ovn === 'services') return;
  const refuse = (message: string): never => {
    throw new SandboxError('ERR_SANDBOX_USAGE', `ovn: ${message}`);
  };
  if (kubelet !== 'real') refuse('its pods need real kubelets');
  if (uplink !== 'nic') refuse('nodes have no bridge before its pods run: --uplink nic');
  if (encryption !== 'none') refuse('tunnels are encrypted by a service of the node');
  if (programs.has('agent')) refuse('an agent waits for its pods, and nodes wait for the agent: --programs kubelet');
};

/** The userspace datapath knows no IPsec. */
const neededBy = ({ needs: named, encryption }: z.output<typeof schema>): Need[] =>
  encryption === 'ipsec' && !named.includes('kernel-datapath') ? [...named, 'kernel-datapath'] : named;
