/** What a process uses: the resident set when it has come to rest, and processor time. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * In KiB: proc_pid_status(5), VmRSS. Waits until the process has used no more than a few milliseconds of processor time
 * for a second, so that what it has to do after its start is done.
 */
export const settledRssKib = async (pid: number, signal: AbortSignal): Promise<number> => {
  for (let before = await cpuTicks(pid); ; ) {
    await delay(1_000, undefined, { signal });
    const after = await cpuTicks(pid);
    if (after - before <= IDLE_TICKS) break;
    before = after;
  }
  return await rssKib(pid);
};

/** At this moment. */
export const rssKib = async (pid: number): Promise<number> => {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
  if (found === null) throw new Error(`process ${pid} is gone`);
  return Number(found[1]);
};

/** Since its start; counted in steps of 10 ms (USER_HZ is 100 on Linux). */
export const cpuMilliseconds = async (pid: number): Promise<number> => 10 * (await cpuTicks(pid));

/** Of 10 ms. */
const IDLE_TICKS = 1;

/** proc_pid_stat(5): utime and stime, counted from behind the name, which may hold anything. */
const cpuTicks = async (pid: number): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
};
