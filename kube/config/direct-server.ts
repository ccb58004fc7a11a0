/**
 * The API server's own address, for programs of a node. The environment of a pod has the ClusterIP of its Service instead: without
 * kube-proxy it leads nowhere until the agent of the node has programmed it, and the agent needs the API server first.
 */
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { abortable } from '../../base/abort.ts';
import { type Cidr, cidrContainsIp } from '../../net/cidr.ts';
import { isIp, parseIp } from '../../net/ip.ts';
import { KubeError } from '../errors.ts';
import { parseKubeconfig } from './kubeconfig.ts';

/** Of the Service `default/kubernetes`, or what a setting says instead. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

/** @returns the URL to use instead; undefined: the address is used as it is */
export type FindServer = (service: ServiceAddress) => Promise<string | undefined>;

/** False for an address that an administrator has set. */
export const isClusterIp = (host: string, serviceSubnets: readonly Cidr[]): boolean =>
  isIp(host) && serviceSubnets.some((subnet) => cidrContainsIp(subnet, parseIp(host)));

export interface KubeletServerOptions {
  /** The kubeconfig of the node's kubelet; absent: none is read. */
  readonly file: string | undefined;
  readonly serviceSubnets: readonly Cidr[];
  /** Called with the reason when no address can be taken from the file: the Service's is used then. */
  readonly onUnusable: (error: unknown) => void;
}

/** Instead of a ClusterIP, the address that the kubelet uses. */
export const kubeletServer =
  ({ file, serviceSubnets, onUnusable }: KubeletServerOptions): FindServer =>
  async ({ host }) => {
    if (file === undefined || !isClusterIp(host, serviceSubnets)) return undefined;
    return await readKubeletServer(file).catch((error: unknown) => {
      onUnusable(error);
      return undefined;
    });
  };

/**
 * Only the address is read: the credentials in the file are the kubelet's.
 * @returns the URL in the kubeconfig of a kubelet; undefined where there is no such file
 * @throws KubeError ERR_KUBE_CONFIG when no address can be taken from it
 */
export const readKubeletServer = async (file: string): Promise<string | undefined> => {
  const text = await read(file);
  if (text === undefined) return undefined;
  const { currentContext = '', contexts, clusters } = parseKubeconfig(text, file);
  const cluster = clusters.get(contexts.get(currentContext)?.cluster ?? '');
  const refuse = (why: string): KubeError => new KubeError('ERR_KUBE_CONFIG', `kubeconfig ${file}: ${why}`);
  if (cluster === undefined) throw refuse('its current context names no cluster');
  // The token of a service account is for nobody else to read.
  if (!/^https:\/\/./.test(cluster.server)) throw refuse(`the server "${cluster.server}" is not an https URL`);
  if (cluster['proxy-url'] || cluster['tls-server-name']) {
    throw refuse('it has a proxy-url or a tls-server-name: set KUBERNETES_SERVICE_HOST instead');
  }
  return cluster.server.replace(/\/+$/, '');
};

/** Writes the address for programs of this node that may not read the kubelet's file. @param server undefined removes it */
export const publishServer = async (file: string, server: string | undefined): Promise<void> => {
  if (server === undefined) return await rm(file, { force: true });
  // The agent's own folder, with its sockets, stays root's: readers get this one alone.
  await mkdir(dirname(dirname(file)), { recursive: true, mode: 0o700 });
  await mkdir(dirname(file), { recursive: true, mode: 0o755 });
  // By renaming: whoever waits for the file finds all of it.
  const draft = `${file}.draft`;
  await writeFile(draft, `${server}\n`, { mode: 0o644 });
  await rename(draft, file);
};

/**
 * Waits until one of both is there: the published address, or an answer from the Service's, as kube-proxy or a programmed
 * network gives it.
 * @returns the published address; undefined: the Service's answers
 * @throws KubeError ERR_KUBE_CONFIG when neither is there in time
 */
export const awaitPublishedServer = async (
  file: string,
  service: ServiceAddress,
  { signal, patienceMs }: { readonly signal: AbortSignal; readonly patienceMs: number },
): Promise<string | undefined> => {
  const published = await readPublished(file);
  if (published !== undefined) return published;
  const done = new AbortController();
  const waiting = AbortSignal.any([signal, done.signal, AbortSignal.timeout(patienceMs)]);
  try {
    return await Promise.race([whenPublished(file, waiting), whenReached(service, waiting)]);
  } catch (cause) {
    signal.throwIfAborted();
    throw new KubeError(
      'ERR_KUBE_CONFIG',
      `the API server is not found: ${service.host}:${service.port} does not answer, and no agent of this node has written ${file}: set KUBERNETES_SERVICE_HOST`,
      { cause },
    );
  } finally {
    done.abort();
  }
};

const whenPublished = (file: string, signal: AbortSignal): Promise<string> =>
  abortable(signal, (resolve, reject) => {
    const look = (): void => {
      readPublished(file).then((server) => server !== undefined && resolve(server), reject);
    };
    const watcher = watchFolder(dirname(file), look);
    look();
    return () => watcher?.close();
  });

/** Undefined where there is no such folder: then no agent writes to it either. */
const watchFolder = (folder: string, onChange: () => void): FSWatcher | undefined => {
  try {
    return watch(folder, onChange).on('error', onChange);
  } catch {
    return undefined;
  }
};

/** Nothing tells when an address begins to lead somewhere. */
const ATTEMPT_MS = 2_000;
const PAUSE_MS = 500;

const whenReached = async (service: ServiceAddress, signal: AbortSignal): Promise<undefined> => {
  while (!(await isReached(service, AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)])))) {
    await delay(PAUSE_MS, undefined, { signal });
  }
};

const isReached = ({ host, port }: ServiceAddress, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    const end = (isConnected: boolean): void => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.once('connect', () => end(true));
    socket.on('error', () => end(false));
  });

/** A file that can't be read, or has no URL, is as good as none: the Service may still answer. */
const readPublished = async (file: string): Promise<string | undefined> => {
  const text = (await read(file).catch(() => undefined))?.trim();
  return text !== undefined && /^https:\/\/\S+$/.test(text) ? text : undefined;
};

const read = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new KubeError('ERR_KUBE_CONFIG', `can't read ${file}: ${String(cause)}`, { cause });
  }
};
