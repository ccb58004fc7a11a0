/**
 * Keeps the CNI plugin and its configuration where the container runtime reads them, and reports what keeps the runtime from them:
 * files that cannot be written, and configurations of other plugins that come first. What fails is tried again, and never ends the agent:
 * networks of pods that run need it.
 */
import type { ProblemCause } from '../../api/problem-causes.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { errorOf, messageOf } from '../../base/error-message.ts';
import { FolderWatch } from '../../base/folder-watch.ts';
import type { Problem } from '../inputs/problem.ts';
import type { MultiNetwork } from '../model/view.ts';
import { type ForeignConfiguration, foreignConfigurations, multusConfiguration } from './foreign-configuration.ts';
import { CONFIGURATION, installConfiguration, installLoopback, installPlugin } from './install.ts';

export interface PluginKeeperOptions {
  readonly node: string;
  /** The static program that `make build` makes. */
  readonly shim: string;
  readonly cniBinFolder: string;
  readonly cniConfFolder: string;
  readonly multiNetwork: MultiNetwork;
  readonly clock: Clock;
  /** The problems are others than before. */
  readonly onProblems: (problems: readonly Problem[]) => void;
  /** Somebody had removed or changed the file of this path. */
  readonly onRepaired: (path: string) => void;
}

export class PluginKeeper {
  readonly #options: PluginKeeperOptions;
  /** What fails, and what others change again and again, is done after a growing pause: events of a folder may be our own drafts. */
  readonly #backoff = new Backoff({ minMs: 1_000, maxMs: 30_000 });
  readonly #watches: FolderWatch[] = [];
  /** What was in its place once. */
  readonly #installed = new Set<Part>();
  #problems: readonly Problem[] = [];
  #isOpen = false;
  #isStopped = false;
  #isDirty = false;
  #running: Promise<void> | undefined;
  /** Until the next look, which no event brings forward. */
  #cancelPause: (() => void) | undefined;

  constructor(options: PluginKeeperOptions) {
    this.#options = options;
  }

  /** Resolves when the plugin was put in its place, or that has failed. */
  async start(): Promise<void> {
    await this.#look();
    if (this.#isStopped) return;
    const { cniBinFolder, cniConfFolder } = this.#options;
    const onChange = (): void => {
      if (this.#cancelPause === undefined) void this.#look();
    };
    for (const folder of new Set([cniBinFolder, cniConfFolder]))
      this.#watches.push(new FolderWatch({ folder, onChange }));
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
    for (const watch of this.#watches) watch.close();
    await this.#running;
    this.#cancelPause?.();
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
      const isDone = await this.#lookOnce();
      // A pause that has passed while this one went on has asked for the next.
      if (!isDone && this.#cancelPause !== undefined) break;
    }
    this.#running = undefined;
  }

  /** @returns whether everything was in its place already */
  async #lookOnce(): Promise<boolean> {
    const { shim, cniBinFolder: bin, cniConfFolder: conf, clock, multiNetwork } = this.#options;
    const program = await this.#keep('program', bin, () => installPrograms(shim, bin));
    // The kubelet takes a node for ready that has a configuration: not without what it names.
    const isOpen = this.#isOpen && this.#installed.has('program');
    const outcomes = [
      program,
      ...(isOpen ? [await this.#keep('configuration', conf, () => installConfiguration(conf, multiNetwork))] : []),
    ];
    const failures = outcomes.flatMap((outcome) => (outcome instanceof Error ? [outcome.message] : []));
    const isDone = failures.length === 0 && !outcomes.includes('repaired');
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    if (isDone) this.#backoff.reset();
    else if (!this.#isStopped) {
      this.#cancelPause = clock.schedule(this.#backoff.nextMs(), () => {
        this.#cancelPause = undefined;
        void this.#look();
      });
    }
    const foreign = await foreignConfigurations(conf, CONFIGURATION).catch(() => []);
    const disagreement = await this.#disagreement();
    this.#report([
      ...failures.map((message) => this.#problem('cni-not-installed', message)),
      ...(failures.length === 0 && this.#backoff.failures >= OFTEN
        ? [
            this.#problem(
              'changed-by-others',
              `another program changes files of the CNI plugin again and again: ${bin}, ${conf}`,
            ),
          ]
        : []),
      ...foreign.map((one) => this.#problem('cni-configuration-foreign', sentenceOf(one))),
      ...(disagreement === undefined ? [] : [this.#problem('multi-network-mode', disagreement)]),
    ]);
    return isDone;
  }

  /** Who calls for a pod is not who `--multi-network` says. */
  async #disagreement(): Promise<string | undefined> {
    const { cniConfFolder: conf, multiNetwork } = this.#options;
    if (!this.#isOpen) return undefined;
    const multus = await multusConfiguration(conf, CONFIGURATION).catch(errorOf);
    if (multus instanceof Error) return `whether Multus calls for pods cannot be determined: ${multus.message}`;
    if (multiNetwork === 'native')
      return multus && `--multi-network is native, and Multus calls for each network of a pod: ${multus}`;
    const missing = `--multi-network is delegated, and no configuration of Multus comes before ${CONFIGURATION} in ${conf}`;
    return multus === undefined ? `${missing}: pods get no networks that they select` : undefined;
  }

  /** @param install returns whether it had to write */
  async #keep(part: Part, folder: string, install: () => Promise<boolean>): Promise<'kept' | 'repaired' | Error> {
    try {
      const isRepair = (await install()) && this.#installed.has(part);
      this.#installed.add(part);
      if (isRepair) this.#options.onRepaired(folder);
      return isRepair ? 'repaired' : 'kept';
    } catch (error) {
      return new Error(`the CNI ${part} cannot be installed in ${folder}: ${messageOf(error)}`);
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

type Part = 'program' | 'configuration';

/** Repairs, each at the first look after the one before. */
const OFTEN = 3;

const installPrograms = async (shim: string, folder: string): Promise<boolean> => {
  const isWritten = await installPlugin(shim, folder);
  return (await installLoopback(shim, folder)) || isWritten;
};

const sentenceOf = ({ file, plugins }: ForeignConfiguration): string => {
  const then =
    plugins.length === 0 ? 'it cannot be read' : `the container runtime calls ${plugins.join(', ')} for new pods`;
  return `the CNI configuration ${file} comes before ${CONFIGURATION}: ${then}`;
};
