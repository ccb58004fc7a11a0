/** What a guest starts from, by what runs it. */
import { messageOf } from '../../base/error-message.ts';
import type { Artifacts } from '../artifacts.ts';
import { ensureTree } from '../tree/tree.ts';
import { type Accelerator, acceleratorsToTry } from './accelerator.ts';
import { ensureQemuImages, type QemuImages } from './qemu-images.ts';
import { guestArchitecture } from './recipe.ts';
import { ensureUmlImages, type UmlImages } from './uml-images.ts';

export type GuestImages = {
  /** Of the nodes, in the cache. */
  readonly tree: string;
  /** What to try when this does not boot. */
  readonly others: readonly Accelerator[];
} & (
  | { readonly accelerator: 'kvm' | 'tcg'; readonly qemu: QemuImages }
  | { readonly accelerator: 'uml'; readonly uml: UmlImages }
);

/**
 * Makes what the cache lacks for the first of the accelerators for which it can be made: minutes for a kernel, once.
 * @throws SandboxError, Error when it can be made for none
 */
export const ensureGuestImages = async (
  artifacts: Artifacts,
  progress: (message: string) => void,
  accelerators: readonly Accelerator[] = acceleratorsToTry(),
): Promise<GuestImages> => {
  guestArchitecture();
  const [accelerator = 'tcg', ...others] = accelerators;
  const tree = await ensureTree(progress);
  if (accelerator !== 'uml') {
    return { accelerator, tree, others, qemu: await ensureQemuImages(artifacts, tree, progress) };
  }
  try {
    return { accelerator, tree, others, uml: await ensureUmlImages(artifacts, progress) };
  } catch (error) {
    if (others.length === 0) throw error;
    progress(`user-mode Linux is not available: ${messageOf(error)}`);
    return await ensureGuestImages(artifacts, progress, others);
  }
};
