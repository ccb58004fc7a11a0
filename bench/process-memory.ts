/** What a process uses: the resident set when it has come to rest, and processor time; and how old it is. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * In KiB: proc_pid_status(5), VmRSS. Waits until the process has used no more than a few milliseconds of processor time
 * for a second, so that what it has to do after its start is done.
 */
export const settledRssKib = async (pid: number, signal: AbortSignal): Promise<number> => {
  await untilAtRest(pid, signal);
  return await rssKib(pid);
};

/** Since its start, when it has come to rest in the same way; counted in steps of 10 ms (USER_HZ is 100 on Linux). */
export const settledCpuMs = async (pid: number, signal: AbortSignal): Promise<number> => {
  await untilAtRest(pid, signal);
  return await cpuMilliseconds(pid);
};

const untilAtRest = async (pid: number, signal: AbortSignal): Promise<void> => {
  for (let before = await cpuTicks(pid); ; ) {
    await delay(1_000, undefined, { signal });
    const after = await cpuTicks(pid);
    if (after - before <= IDLE_TICKS) return;
    before = after;
  }
};

/** At this moment. */
export const rssKib = async (pid: number): Promise<number> => {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
  if (found === null) throw new Error(`process ${pid} is gone`);
  return Number(found[1]);
};

/** Since its start; counted in steps of 10 ms (USER_HZ is 100 on Linux). */
export const cpuMilliseconds = async (pid: number): Promise<number> => 10 * (await cpuTicks(pid));

/** Milliseconds since its start: proc_uptime(5) and proc_pid_stat(5), starttime; both in steps of 10 ms. */
export const ageMs = async (pid: number): Promise<number> => {
  const ticks = Number((await statFields(pid))[19]);
  const [uptime = ''] = (await readFile('/proc/uptime', 'utf8')).split(' ');
  return Number(uptime) * 1000 - ticks * 10;
};

/** Of 10 ms. */
const IDLE_TICKS = 1;

/** proc_pid_stat(5): utime and stime. */
const cpuTicks = async (pid: number): Promise<number> => {
  const fields = await statFields(pid);
  return Number(fields[11]) + Number(fields[12]);
};

/** Those behind the name, which may hold anything: the first is the third of proc_pid_stat(5). */
const statFields = async (pid: number): Promise<string[]> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};
