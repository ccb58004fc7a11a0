/**
 * The agent between the API's objects and everything that is programmed on a node, as a process of its own: its inputs,
 * facts, features, engine, reconcilers and backends as they are; the objects come from its stdin. Runs on a node.
 *
 *   node-agent.mjs SPEC
 *
 * Begins with what the JSON says (`BenchAgentSpec`), and prints a line of JSON (`Done`) when there is nothing left to do. Then the same for every
 * line on stdin: `add NUMBER`, `add-secondary NUMBER` and `remove NUMBER` of a network, `endpoints NUMBER COUNT` of a Service. Everything is counted
 * until there is nothing left that waits or fails.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type BenchAgentSpec, startBenchAgent } from './agent.ts';

/** What a step took. */
export interface Done {
  readonly ms: number;
  /** Handed to write(2) by this process and the programs that it has started and that have ended: proc_pid_io(5), wchar. */
  readonly bytes: number;
  /** Rows, flows, objects of the kernel and of nftables. */
  readonly written: number;
  /** proc_pid_status(5), VmRSS, in KiB. */
  readonly rssKib: number;
  /** Processor time of this process, milliseconds. */
  readonly cpuMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

const main = async ([spec = '{}']: readonly string[]): Promise<void> => {
  const start = sample();
  const agent = await startBenchAgent(JSON.parse(spec) as BenchAgentSpec);
  print(start, agent);
  for await (const line of createInterface(process.stdin)) {
    const [verb, number, count] = line.split(' ');
    const before = sample(agent.written());
    if (verb === 'add') await agent.add(Number(number), 'primary');
    else if (verb === 'add-secondary') await agent.add(Number(number), 'secondary');
    else if (verb === 'endpoints') await agent.setEndpoints(Number(number), Number(count));
    else await agent.remove(Number(number));
    print(before, agent);
  }
  await agent.stop();
};

type Agent = Awaited<ReturnType<typeof startBenchAgent>>;

const print = (before: Sample, agent: Agent): void => {
  const after = sample(agent.written());
  const done: Done = {
    ms: after.at - before.at,
    bytes: after.bytes - before.bytes,
    written: after.written - before.written,
    cpuMs: after.cpuMs - before.cpuMs,
    rssKib: Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]),
    counts: agent.counts(),
  };
  process.stdout.write(`${JSON.stringify(done)}\n`);
};

interface Sample {
  readonly at: number;
  readonly bytes: number;
  readonly written: number;
  readonly cpuMs: number;
}

const sample = (written = 0): Sample => {
  const { user, system } = process.cpuUsage();
  return {
    at: performance.now(),
    bytes: Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]),
    written,
    cpuMs: (user + system) / 1000,
  };
};

await main(process.argv.slice(2));
