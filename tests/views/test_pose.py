"""Poses, compared with products of 4x4 matrices in NumPy."""

import math

import numpy as np
import pytest
import torch

from mjlab.views import Pose, PoseError


def rotation(quat: np.ndarray) -> np.ndarray:
    """Return Rodrigues' formula from the quaternion's axis and angle."""
    w, v = quat[0], quat[1:]
    angle = 2.0 * math.atan2(np.linalg.norm(v), w)
    axis = v / np.linalg.norm(v)
    cross = np.array(
        [[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]]
    )
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def matrix(raw: torch.Tensor) -> np.ndarray:
    row = raw.double().numpy()
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = rotation(row[3:]), row[:3]
    return result


def matrices(pose: Pose) -> np.ndarray:
    return np.stack([matrix(row) for row in pose.raw.reshape(-1, 7)])


def random_pose(count: int, seed: int) -> Pose:
    raw = torch.randn(count, 7, generator=torch.Generator().manual_seed(seed))
    raw[:, 3:] /= raw[:, 3:].norm(dim=1, keepdim=True)
    return Pose(raw)


A, B = random_pose(5, 1), random_pose(5, 2)


def test_a_product_of_poses_is_the_product_of_their_matrices():
    np.testing.assert_allclose(matrices(A * B), matrices(A) @ matrices(B), atol=1e-5)


def test_the_inverse_of_a_pose_is_the_inverse_of_its_matrix():
    np.testing.assert_allclose(matrices(A.inv()), np.linalg.inv(matrices(A)), atol=1e-5)


def test_a_pose_is_written_as_the_matrix_of_rodrigues_and_read_from_it():
    written = A.to_transformation_matrix()
    np.testing.assert_allclose(written.numpy(), matrices(A), atol=1e-6)
    read = Pose.from_transformation_matrix(torch.from_numpy(matrices(A)).float())
    sign = torch.sign((read.q * A.q).sum(-1, keepdim=True))
    torch.testing.assert_close(read.p, A.p)
    torch.testing.assert_close(read.q * sign, A.q, atol=1e-6, rtol=0.0)


def test_the_matrix_of_half_a_turn_is_read_though_its_trace_is_minus_one():
    half_turn = torch.diag(torch.tensor([-1.0, 1.0, -1.0, 1.0]))
    pose = Pose.from_transformation_matrix(half_turn)
    assert pose.q.abs().tolist() == [0.0, 0.0, 1.0, 0.0]


def test_points_move_as_homogeneous_vectors_do():
    points = torch.randn(5, 3, generator=torch.Generator().manual_seed(3))
    padded = np.concatenate([points.numpy(), np.ones((5, 1))], axis=1)
    expected = np.einsum("nij,nj->ni", matrices(A), padded)[:, :3]
    np.testing.assert_allclose(A.transform_point(points), expected, atol=1e-5)
    cloud = points.expand(5, 5, 3)
    expected = np.einsum("nij,mj->nmi", matrices(A), padded)[..., :3]
    np.testing.assert_allclose(A.transform_points(cloud), expected, atol=1e-5)
    np.testing.assert_allclose(A.transform_points(points), expected, atol=1e-5)


def test_one_pose_combines_with_any_number_of_poses():
    for one in (A[:1], A[0]):
        np.testing.assert_allclose(
            matrices(one * B), matrices(A[:1]) @ matrices(B), atol=1e-5
        )
        np.testing.assert_allclose(
            matrices(B * one), matrices(B) @ matrices(A[:1]), atol=1e-5
        )


def test_poses_of_several_objects_per_world_go_with_one_per_world():
    many = Pose(torch.stack((A.raw, B.raw), dim=1))
    product = (A.inv()[:, None] * many).raw
    np.testing.assert_allclose(
        matrices(Pose(product[:, 1])), matrices(A.inv()) @ matrices(B), atol=1e-5
    )
    assert product.shape == (5, 2, 7)


def test_positions_and_orientations_broadcast_and_may_be_left_out():
    p, q = torch.randn(4, 3), [0.0, 1.0, 0.0, 0.0]
    pose = Pose.create_from_pq(p, q)
    assert pose.shape == (4,)
    assert torch.equal(pose.p, p)
    assert pose.q.tolist() == [q] * 4
    assert Pose.create_from_pq(p).q.tolist() == [[1.0, 0.0, 0.0, 0.0]] * 4
    assert Pose.create_from_pq(q=torch.tensor([q] * 3)).p.tolist() == [[0.0] * 3] * 3
    assert Pose.create_from_pq().raw.tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert Pose.create_from_pq(p[:1], torch.tensor([q] * 3)).shape == (3,)


def test_a_pose_is_made_of_a_tensor_a_list_or_a_pose():
    numbers = [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]
    assert Pose.create(A) is A
    assert Pose.create(A.raw).raw is A.raw
    assert Pose.create(numbers).raw.tolist() == numbers
    assert Pose.create([numbers, numbers]).shape == (2,)
    rows = Pose.create([A[0], A[3]])
    assert torch.equal(rows.raw, A.raw[[0, 3]])


def test_poses_are_chosen_as_rows_of_a_tensor_are():
    mask = torch.tensor([True, False, True, False, False])
    assert torch.equal(A[2].raw, A.raw[2])
    assert torch.equal(A[1:3].raw, A.raw[1:3])
    assert torch.equal(A[mask].raw, A.raw[mask])
    assert torch.equal(A[torch.tensor([4, 0])].raw, A.raw[[4, 0]])
    assert [len(A), len(A[1:3]), len(A[mask])] == [5, 2, 2]
    with pytest.raises(IndexError):
        A[:, 0]  # The seven numbers are not rows.


def test_position_and_orientation_can_be_set():
    pose = A.clone()
    pose.p = torch.tensor([1.0, 2.0, 3.0])
    pose.q = B.q
    assert pose.p.tolist() == [[1.0, 2.0, 3.0]] * 5
    assert torch.equal(pose.q, B.q)
    pose.p[:, 2] += 1.0
    assert pose.raw[:, 2].tolist() == [4.0] * 5
    assert not torch.equal(A.p, pose.p)


def test_an_invalid_pose_is_refused_with_the_reason():
    with pytest.raises(PoseError) as error:
        Pose(torch.zeros(4, 6))
    assert str(error.value) == (
        "A pose has 7 numbers in its last dimension, position and quaternion wxyz; "
        "this tensor has shape (4, 6)."
    )
    with pytest.raises(PoseError) as error:
        Pose.create_from_pq(q=torch.zeros(2, 3))
    assert str(error.value) == "q has shape (2, 3); its last dimension has to be 4."
    with pytest.raises(PoseError, match=r"shape \(\.\.\., 4, 4\), not \(3, 3\)"):
        Pose.from_transformation_matrix(torch.eye(3))
