import { attachmentId } from '../../model/facts.ts';

/** Under which policies of a pod are known on a network. */
export const idOn = (pod: string, network: string | undefined): string =>
  network === undefined ? pod : attachmentId(pod, network);
