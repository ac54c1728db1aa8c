export { findKustomize } from './kustomize.ts'
export {
  digestSources,
  headerOf,
  type KubernetesObject,
  kubernetesFolder,
  type Labels,
  OVERLAYS,
  overlayFolder,
  parseObjects,
  readOverlay,
  renderedFile,
  repository,
} from './overlays.ts'
