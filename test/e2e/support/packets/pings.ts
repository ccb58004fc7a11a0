/** Echo requests at a steady pace while something else happens: how many were not answered, and for how long. */
import type { Ip } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

export interface PingLoss {
  readonly address: Ip;
  readonly sent: number;
  readonly lost: number;
}

const INTERVAL_SECONDS = 0.05;

/** From a pod to some addresses. */
export const pingWhile = async (
  sandbox: Sandbox,
  { from, to }: { readonly from: string; readonly to: readonly Ip[] },
  work: () => Promise<void>,
): Promise<readonly PingLoss[]> => {
  await sandbox.exec(from, ['rm', '-f', STOP]);
  const pings = to.map((address) =>
    sandbox.exec(from, ['sh', '-c', UNTIL_STOPPED, String(INTERVAL_SECONDS), address], { timeoutMs: 600_000 }),
  );
  const settled = Promise.allSettled(pings);
  try {
    await work();
  } finally {
    await sandbox.exec(from, ['touch', STOP]);
    await settled;
  }
  return await Promise.all(
    to.map(async (address, index) => {
      const text = (await pings[index])?.stdout ?? '';
      const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(text) ?? [];
      if (sent === undefined) throw new Error(`ping of ${address} counted nothing: ${text}`);
      return { address, sent: Number(sent), lost: Number(sent) - Number(received) };
    }),
  );
};

/** From several pods at once, each one of them once. */
export const pingsWhile = async (
  sandbox: Sandbox,
  flows: readonly { readonly from: string; readonly to: readonly Ip[] }[],
  work: () => Promise<void>,
): Promise<readonly (PingLoss & { readonly from: string })[]> => {
  const [flow, ...others] = flows;
  if (flow === undefined) {
    await work();
    return [];
  }
  const rest: (PingLoss & { readonly from: string })[] = [];
  const own = await pingWhile(sandbox, flow, async () => {
    rest.push(...(await pingsWhile(sandbox, others, work)));
  });
  return [...own.map((loss) => ({ ...loss, from: flow.from })), ...rest];
};

const STOP = '/tmp/stop-pings';
/** The last one may still be on its way when it ends: it waits for it. */
const UNTIL_STOPPED = `
ping -q -n -i "$0" -W 1 "$1" &
while [ ! -e ${STOP} ]; do sleep 0.1; done
kill -INT $!
wait $!
true
`;
