/** What every step of bringing a cluster up needs. */

import { join } from 'node:path';
import { addressOf } from '../../net/cidr.ts';
import type { Authority } from '../api/kube/certificate.ts';
import type { Artifacts } from '../artifacts.ts';
import { SandboxError } from '../errors.ts';
import type { KonnectivityPrograms } from '../konnectivity/ensure.ts';
import type { ProgramPaths } from '../kubernetes/build.ts';
import type { CONTROL_PLANE_PROGRAMS } from '../kubernetes/recipe.ts';
import type { KernelFeatures } from '../machine/features.ts';
import type { Machine } from '../machine/types.ts';
import type { Datapath } from '../plan/bridge.ts';
import { apiAddresses } from '../plan/cluster-settings.ts';
import { API_PORT, type NetPlan } from '../plan/netplan.ts';
import type { SandboxOptions } from '../plan/options.ts';
import type { Service } from '../process/service.ts';
import type { RealKubeletParts } from '../real-kubelet/ensure.ts';
import type { StateFolder } from './state-folder.ts';

export interface ClusterContext {
  readonly options: SandboxOptions;
  readonly artifacts: Artifacts;
  readonly folder: StateFolder;
  readonly tree: string;
  /** The programs of a real control plane, where that is requested. */
  readonly kubernetes: ProgramPaths<(typeof CONTROL_PLANE_PROGRAMS)[number]> | undefined;
  /** What real kubelets need, where they are requested. */
  readonly realKubelet: RealKubeletParts | undefined;
  /** The DNS server's program, where it is requested. */
  readonly coredns: string | undefined;
  /** Paths of plugins of containernetworking, by their names. */
  readonly cniPlugins: Readonly<Record<string, string>>;
  /** The programs of konnectivity, where the API server reaches pods by it. */
  readonly konnectivity: KonnectivityPrograms | undefined;
  /** Of the certificates of tunnels, where they are encrypted. */
  readonly authority: Authority | undefined;
  /** The sandbox's own cgroup, on this machine. */
  readonly cgroup: string;
  readonly plan: NetPlan;
  readonly features: KernelFeatures;
  readonly datapath: Datapath;
  readonly progress: (message: string) => void;
  /** Gets what goes wrong after `up` has returned. */
  readonly onError: (error: unknown) => void;
}

/** What is running. Filled while the cluster comes up. */
export interface ClusterState {
  phase: 'starting' | 'up' | 'failed';
  readonly machines: Map<string, Machine>;
  /** Of every machine: cleaning up has to wait until none is on its way. */
  readonly starting: Set<Promise<Machine>>;
  /** By machine; those that run once for all nodes are under `services`. */
  readonly services: Map<string, Service[]>;
}

/** Names of machines that are no nodes. */
export const UNDERLAY = 'underlay';
export const SERVICES = 'services';
export const OUTSIDE = 'outside';

export const logPath = ({ folder }: ClusterContext, machine: string, program: string): string =>
  join(folder.logs, `${machine}.${program}.log`);

/** Where nodes reach the API server: in the underlay. */
export const nodeApiUrl = ({ plan }: ClusterContext, scheme: 'http' | 'https'): string => {
  const [gateway = ''] = plan.gateway.map(addressOf);
  return `${scheme}://${gateway.includes(':') ? `[${gateway}]` : gateway}:${API_PORT}`;
};

/** Where pods of the default network reach it: the Service default/kubernetes. */
export const podApiUrl = ({ options }: ClusterContext, scheme: 'http' | 'https'): string => {
  const [ip = ''] = apiAddresses(options.ipFamily);
  return `${scheme}://${ip.includes(':') ? `[${ip}]` : ip}:443`;
};

export const addService = ({ services }: ClusterState, machine: string, service: Service): void => {
  services.set(machine, [...(services.get(machine) ?? []), service]);
};

/** @throws SandboxError ERR_SANDBOX_NOT_FOUND */
export const machineNamed = ({ machines }: ClusterState, name: string): Machine => {
  const machine = machines.get(name);
  if (machine === undefined) {
    throw new SandboxError('ERR_SANDBOX_NOT_FOUND', `there is no node "${name}": ${nodeNames(machines)}`);
  }
  return machine;
};

const nodeNames = (machines: ReadonlyMap<string, Machine>): string =>
  [...machines.keys()].filter((name) => ![UNDERLAY, SERVICES, OUTSIDE].includes(name)).join(', ');
