/**
 * Keeps the CNI plugin and its configuration where the container runtime reads them, and reports what keeps the runtime from them:
 * files that cannot be written, and configurations of other plugins that come first. What fails is tried again, and never ends the agent:
 * networks of pods that run need it.
 */
import type { ProblemCause } from '../../api/problem-causes.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { FolderWatch } from '../../base/folder-watch.ts';
import type { Problem } from '../inputs/problem.ts';
import { type ForeignConfiguration, foreignConfigurations } from './foreign-configuration.ts';
import { CONFIGURATION, installConfiguration, installLoopback, installPlugin } from './install.ts';

export interface PluginKeeperOptions {
  readonly node: string;
  /** The static program that `make build` makes. */
  readonly shim: string;
  readonly cniBinFolder: string;
  readonly cniConfFolder: string;
  readonly clock: Clock;
  /** The problems are others than before. */
  readonly onProblems: (problems: readonly Problem[]) => void;
  /** Somebody had removed or changed the file of this path. */
  readonly onRepaired: (path: string) => void;
}

export class PluginKeeper {
  readonly #options: PluginKeeperOptions;
  readonly #backoff = new Backoff({ minMs: 1_000, maxMs: 30_000 });
  readonly #watches: FolderWatch[] = [];
  /** Folders whose file was in its place once. */
  readonly #installed = new Set<string>();
  #problems: readonly Problem[] = [];
  #isOpen = false;
  #isStopped = false;
  #isDirty = false;
  #running: Promise<void> | undefined;
  #cancelRetry = (): void => {};

  constructor(options: PluginKeeperOptions) {
    this.#options = options;
  }

  /** Resolves when the plugin was put in its place, or that has failed. */
  async start(): Promise<void> {
    await this.#look();
    const { cniBinFolder, cniConfFolder } = this.#options;
    for (const folder of new Set([cniBinFolder, cniConfFolder]))
      this.#watches.push(new FolderWatch({ folder, onChange: () => void this.#look() }));
  }

  /** From now on pods can be added, and the configuration is kept, too. Resolves when it was written, or that has failed. */
  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#look();
  }

  /** What keeps the container runtime from the plugin. */
  problems(): readonly Problem[] {
    return this.#problems;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRetry();
    for (const watch of this.#watches) watch.close();
    await this.#running;
  }

  #look(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#isDirty = true;
    this.#running ??= this.#lookWhileDirty();
    return this.#running;
  }

  async #lookWhileDirty(): Promise<void> {
    while (this.#isDirty && !this.#isStopped) {
      this.#isDirty = false;
      await this.#lookOnce();
    }
    this.#running = undefined;
  }

  async #lookOnce(): Promise<void> {
    const { shim, cniBinFolder: bin, cniConfFolder: conf } = this.#options;
    const failures = [
      ...(await this.#keep('the CNI plugin', bin, () => installPrograms(shim, bin))),
      ...(this.#isOpen ? await this.#keep('the CNI configuration', conf, () => installConfiguration(conf)) : []),
    ];
    const foreign = await foreignConfigurations(conf, CONFIGURATION).catch(() => []);
    this.#report([...failures, ...foreign.map((one) => this.#problem('cni-configuration-foreign', sentenceOf(one)))]);
    this.#cancelRetry();
    if (failures.length === 0) this.#backoff.reset();
    else this.#cancelRetry = this.#options.clock.schedule(this.#backoff.nextMs(), () => void this.#look());
  }

  /** @param install returns whether it had to write */
  async #keep(what: string, folder: string, install: () => Promise<boolean>): Promise<Problem[]> {
    const key = `${what} ${folder}`;
    try {
      if ((await install()) && this.#installed.has(key)) this.#options.onRepaired(folder);
      this.#installed.add(key);
      return [];
    } catch (error) {
      return [this.#problem('cni-not-installed', `${what} cannot be written to ${folder}: ${messageOf(error)}`)];
    }
  }

  #problem(cause: ProblemCause, message: string): Problem {
    return { object: `Node/${this.#options.node}`, message, cause };
  }

  #report(problems: readonly Problem[]): void {
    const [before, now] = [this.#problems, problems].map((all) => all.map(({ message }) => message).join('\n'));
    this.#problems = problems;
    if (before !== now) this.#options.onProblems(problems);
  }
}

const installPrograms = async (shim: string, folder: string): Promise<boolean> => {
  const isWritten = await installPlugin(shim, folder);
  return (await installLoopback(shim, folder)) || isWritten;
};

const sentenceOf = ({ file, plugins }: ForeignConfiguration): string => {
  const then =
    plugins.length === 0 ? 'it cannot be read' : `the container runtime calls ${plugins.join(', ')} for new pods`;
  return `the CNI configuration ${file} comes before ${CONFIGURATION}: ${then}`;
};
