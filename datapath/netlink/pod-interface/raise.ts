import type { Kernel } from '../kernel/types.ts';

/** See `PodInterfaces.raise`. */
export const raiseHostEnds = (kernel: Kernel, hostNames: readonly string[]): void => {
  const [failure] = kernel.netns().apply(hostNames.map((name) => ({ op: 'link.set', name, change: { up: true } })));
  if (failure !== undefined) throw failure.error;
};
