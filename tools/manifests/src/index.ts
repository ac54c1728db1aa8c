export {
  digestSources,
  findKustomize,
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
