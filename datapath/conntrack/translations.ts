/** Connections of UDP that a load balancer of OVN has led to one of its backends, as OVS' datapath remembers them. */
import type { CommandRunner } from '../exec/types.ts';

/** Who answers for an address and port, as a load balancer has chosen: `IP:PORT`, IPv6 in brackets. */
export interface Translation {
  readonly vip: string;
  readonly backend: string;
}

export interface TranslationReader {
  /** Which of these there are, in any zone: a dump of all that is remembered is read line by line. @throws CommandError */
  translations(of: readonly Translation[], signal?: AbortSignal): Promise<readonly Translation[]>;
}

/** @param control arguments of ovs-appctl that say where ovs-vswitchd is */
export const createTranslationReader = (
  runner: Pick<CommandRunner, 'lines'>,
  control: () => Promise<readonly string[]>,
): TranslationReader => ({
  translations: async (of, signal) => {
    const desired = new Map(of.map((one) => [textOf(one), one]));
    const found = new Set<Translation>();
    const command = { file: 'ovs-appctl', args: [...(await control()), 'dpctl/dump-conntrack'] };
    for await (const line of runner.lines(command, signal)) {
      const one = desired.get(translationIn(line) ?? '');
      if (one !== undefined) found.add(one);
    }
    return [...found];
  },
});

const textOf = ({ vip, backend }: Translation): string => `${vip} ${backend}`;

/** `udp,orig=(src=…,dst=VIP,sport=…,dport=PORT),reply=(src=BACKEND,dst=…,sport=PORT,dport=…),zone=…`; undefined for other protocols. */
const translationIn = (line: string): string | undefined => {
  const [found, vip = '', port = '', backend = '', backendPort = ''] = TRANSLATION.exec(line) ?? [];
  return found && textOf({ vip: socketText(vip, port), backend: socketText(backend, backendPort) });
};

const TRANSLATION =
  /^udp,orig=\(src=[^,]+,dst=([^,]+),sport=\d+,dport=(\d+)\),reply=\(src=([^,]+),dst=[^,]+,sport=(\d+),dport=\d+\)/;

const socketText = (ip: string, port: string): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

/** One side of a connection of UDP (ovs-vswitchd(8), dpctl/flush-conntrack). */
export const tupleOf = (side: 'src' | 'dst', socket: string): string => {
  const end = socket.lastIndexOf(':');
  const ip = socket.slice(0, end).replace(/^\[|\]$/g, '');
  const address = ip.includes(':') ? `ct_ipv6_${side}` : `ct_nw_${side}`;
  return `${address}=${ip},ct_nw_proto=17,ct_tp_${side}=${socket.slice(end + 1)}`;
};
