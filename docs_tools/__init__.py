"""What makes the generated parts of the documentation: pages of reference, the drawing, the screenshots."""
