export function CutsPage() {
  return <p />;
}
