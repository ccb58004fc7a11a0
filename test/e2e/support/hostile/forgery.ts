/** A pod that claims to be somebody else: it is root in its network namespace and may give itself any address. */
import { z } from 'zod';
import { type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

/** `device`: of the pod. `to`: whom its packets are for. */
export interface Route {
  readonly pod: string;
  readonly device: string;
  readonly to: Ip;
}

/**
 * The pod sends with this source address to `to`. It need not ask for the next hop's MAC address, so that nothing but the
 * packets themselves can be refused.
 * @returns undoes it
 */
export const forgeAddress = async (
  sandbox: Pick<Sandbox, 'exec'>,
  route: Route,
  source: Ip,
): Promise<() => Promise<void>> => {
  const ip = ipCommand(sandbox, route);
  const hop = await nextHop(sandbox, route);
  const bits = ipFamily(source) === 4 ? 32 : 128;
  const via = hop === route.to ? [] : ['via', hop];
  await pinNeighbour(sandbox, route, hop);
  await ip('addr', 'add', `${source}/${bits}`, 'dev', route.device, ...(bits === 128 ? ['nodad'] : []));
  await ip('route', 'replace', `${route.to}/${bits}`, ...via, 'dev', route.device, 'src', source);
  return async () => {
    await ip('route', 'del', `${route.to}/${bits}`);
    await ip('addr', 'del', `${source}/${bits}`, 'dev', route.device);
    await ip('neigh', 'del', hop, 'dev', route.device);
  };
};

/** The pod sends with this MAC address. @returns undoes it */
export const forgeMac = async (
  sandbox: Pick<Sandbox, 'exec'>,
  route: Route,
  mac: string,
): Promise<() => Promise<void>> => {
  const hop = await nextHop(sandbox, route);
  const hopMac = await macOf(sandbox, route, hop);
  const own = await ownMac(sandbox, route);
  const become = async (address: string): Promise<void> => {
    await sandbox.exec(route.pod, ['ip', 'link', 'set', route.device, 'address', address]);
  };
  await become(mac);
  // Changing the device's address forgets all neighbours, here and when it changes back.
  await ipCommand(sandbox, route)('neigh', 'replace', hop, 'lladdr', hopMac, 'dev', route.device, 'nud', 'permanent');
  return () => become(own);
};

/** The pod knows the next hop's MAC address for good. */
const pinNeighbour = async (sandbox: Pick<Sandbox, 'exec'>, route: Route, hop: Ip): Promise<void> => {
  const mac = await macOf(sandbox, route, hop);
  await ipCommand(sandbox, route)('neigh', 'replace', hop, 'lladdr', mac, 'dev', route.device, 'nud', 'permanent');
};

const ipCommand =
  (sandbox: Pick<Sandbox, 'exec'>, { pod, to }: Route) =>
  async (...args: string[]): Promise<string> =>
    (await sandbox.exec(pod, ['ip', familyOption(ipFamily(to)), ...args])).stdout;

const familyOption = (family: Family): string => `-${family}`;

const nextHop = async (sandbox: Pick<Sandbox, 'exec'>, route: Route): Promise<Ip> => {
  const text = await ipCommand(sandbox, route)('-j', 'route', 'get', route.to, 'oif', route.device);
  const [found] = z.array(z.object({ gateway: z.string().optional() })).parse(JSON.parse(text));
  return (found?.gateway ?? route.to) as Ip;
};

/** Of a neighbour that the pod has just talked to. */
const macOf = async (sandbox: Pick<Sandbox, 'exec'>, route: Route, neighbour: Ip): Promise<string> => {
  const text = await ipCommand(sandbox, route)('-j', 'neigh', 'show', neighbour, 'dev', route.device);
  const [found] = z.array(z.object({ lladdr: z.string().optional() })).parse(JSON.parse(text));
  if (found?.lladdr === undefined) throw new Error(`${route.pod} does not know the MAC address of ${neighbour}`);
  return found.lladdr;
};

const ownMac = async (sandbox: Pick<Sandbox, 'exec'>, { pod, device }: Route): Promise<string> => {
  const { stdout } = await sandbox.exec(pod, ['ip', '-j', 'link', 'show', device]);
  const [link] = z.array(z.object({ address: z.string() })).parse(JSON.parse(stdout));
  return link?.address ?? '';
};
